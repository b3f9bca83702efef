/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that prints what a watch found (tools/lib/copyscope/dispatch/printer.py).
 *
 * `copyscope watch` starts it and becomes the watch: `watch --reader FD,PID ...`. It reads documents from a pipe, a line
 * of JSON each: {"open": true} once the window is open, {"interval": ...} for each interval, {"record": ..., "file": ...}
 * at the end. Without it, or if it is killed, a watch counts and writes its record all the same.
 */
#ifndef COPYSCOPE_WATCH_READER_H
#define COPYSCOPE_WATCH_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct reader {
	FILE *out;	/* NULL: nobody prints */
	pid_t pid;	/* 0: no child of this process */
};

/* Takes --reader and its value off the front of the command line. Whoever exits then waits for the reader first. */
void reader_take(struct reader *reader, int *argc, char ***argv);

/* Takes @o over. 0, or -errno: the reader is gone; nothing more is to be told then. */
int reader_tell(struct reader *reader, json_t *o);

/* Nothing more is told: waits until all is printed. True if it could be, or nobody was to print. */
bool reader_end(struct reader *reader);

#endif
