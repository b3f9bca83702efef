/* SPDX-License-Identifier: GPL-2.0 */
/* Makes one run after the other from lines of stdin, with hooks that stay attached. */
#ifndef COPYSCOPE_SERIES_H
#define COPYSCOPE_SERIES_H

#include "userspace/common/system/confine.h"
#include "userspace/run/lent.h"

/* The command line of one run, as if it had been typed. Its exit status, or TRY_ATTACH: *lent->asked is what it needs. */
typedef int series_run(int argc, char **argv, struct lent *lent);

/*
 * Reads lines of NAME and WORDS, which shells quote as they quote a command. Each becomes the run
 * "PROGRAM COMMON... WORDS... --json FOLDER/NAME.json", whose stdout, stderr and exit status go to NAME.out, NAME.err
 * and NAME.status. Prints "begin NAME" and "end NAME STATUS". The exit status: 0 if that of each run is, else 1; 2 after
 * one line that says what is wrong with a line.
 */
int series_make(const char *folder, char *program, int count, char **common, series_run *run);

#endif
