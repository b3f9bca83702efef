/* SPDX-License-Identifier: GPL-2.0 */
/* Makes sure of stdin, stdout and stderr: that they are there, and that what was printed got out. */
#ifndef COPYSCOPE_STREAMS_H
#define COPYSCOPE_STREAMS_H

/*
 * Opens those of the three descriptors that whoever started us has closed. Else the next file opened
 * would get such a number, and what is printed would land in it. What is written to a stdout that was
 * closed is an error as before. To be called first of all.
 */
void streams_open(void);

/* From now on a program that exits, but could not write all of its stdout, says so in one line that
 * begins with @program, and exits with 1. A reader that left early is no error. */
void streams_watch(const char *program);

#endif
