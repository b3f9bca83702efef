/* SPDX-License-Identifier: GPL-2.0 */
/* Ensures that stdin, stdout and stderr are open, and that what was printed was written whole. */
#ifndef COPYSCOPE_STREAMS_H
#define COPYSCOPE_STREAMS_H

/*
 * Opens those of the three descriptors that are closed. Otherwise the next file that is opened
 * would get such a number, and output would land in it. Writing to a stdout that was closed still
 * fails. Call it first of all.
 */
void streams_open(void);

/* From now on, if a program exits and could not write all of its stdout, it prints one line that
 * begins with @program, and exits with 1. A reader that left early is no error. A limit on the size
 * of files (RLIMIT_FSIZE) is one of the write, as a full disk is. */
void streams_watch(const char *program);

/* From now on a signal that is handled interrupts no write: stdio would lose what is left of it. */
void streams_write_whole(void);

#endif
