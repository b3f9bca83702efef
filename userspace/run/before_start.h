/* SPDX-License-Identifier: GPL-2.0 */
/* Describes a run that ended before its gate was opened. */
#ifndef COPYSCOPE_BEFORE_START_H
#define COPYSCOPE_BEFORE_START_H

#include "userspace/record/record.h"
#include "userspace/run/ends/launch.h"

/*
 * Makes @r the record of a run that a signal, or the death of an end, stopped before it began:
 * nothing was counted. False if it was neither: then the system refused something, and an error was
 * printed.
 */
bool describe_unstarted(struct record *r, struct child children[END_COUNT]);

#endif
