/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that prints what a watch found (tools/lib/copyscope/dispatch/printer.py).
 *
 * `copyscope watch` starts it and becomes the watch: `watch --reader FD,PID ...`. It reads documents from a socket, a line
 * of JSON each: {"open": true, "live": WHOM} once the window is open, {"interval": ...} for each interval, {"record": ...,
 * "file": ...} at the end. On a terminal it may show intervals live: then it sends the keys that are typed, and takes the
 * terminal back for {"stop": true}, which it answers by Ctrl-Z, until {"go": true}. Without it, or if it is killed, a watch
 * counts and writes its record all the same.
 *
 * It may be on another host (tools/lib/copyscope/dispatch/far.py): `--reader 1,0` says that it reads stdout and sends keys
 * to stdin. It gets the whole record then, and the watch ends with the connection.
 */
#ifndef COPYSCOPE_WATCH_REPORT_READER_H
#define COPYSCOPE_WATCH_REPORT_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct reader {
	FILE *out;	/* NULL: nobody prints */
	int keys;	/* keys that are typed come from there */
	bool far;	/* it is on another host */
	pid_t pid;	/* 0: no child of this process */
};

/* Takes --reader and its value off the front of the command line. Whoever exits then waits for the reader first. */
void reader_take(struct reader *reader, int *argc, char ***argv);

/* Takes @o over. 0, or -errno: the reader is gone; nothing more is to be told then. */
int reader_tell(struct reader *reader, json_t *o);

/* A key that was typed; 0: none, -1: the reader is gone. */
int reader_key(struct reader *reader);

/* Nothing more is told: waits until all is printed. True if it could be, or nobody was to print. */
bool reader_end(struct reader *reader);

#endif
