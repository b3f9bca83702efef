/* SPDX-License-Identifier: GPL-2.0 */
/* Bounds every wait for the two ends of a run: tells them to end, and kills what does not. */
#ifndef COPYSCOPE_ENDING_H
#define COPYSCOPE_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* One end of the workload as the process that started it knows it. */
struct child {
	pid_t pid;	/* 0: that end is on another host */
	clockid_t clock;	/* of the processor time that it used */
	int64_t prepared_ns;	/* of that time, until it was released */
	int64_t used_ns;	/* of it since then, with its own children; known once it has ended */
	uint32_t tgid;	/* by which BPF programs know it; 0 if the kernel does not return it */
	uint32_t netns;	/* inode number of its network namespace, by which the kernel knows it too */
	int ready;	/* it writes a line here when it can be released */
	int go;		/* one byte here releases it */
	int out;	/* its totals, as JSON */
	char *text;	/* what it printed so far; owned */
	size_t length;
	int status;	/* of waitpid, once collected */
	bool ended;
	bool told_to_end;	/* it did not end by itself, and was ended */
	bool decides;	/* when to stop; an interrupt goes to it first */
};

/* How long an end may continue when the other has ended, both may stand still, both may be late. */
struct ending_bounds {
	int64_t alone_ms, still_ms, late_ms;
};

/* From now on SIGINT, SIGTERM and SIGHUP end the run in order instead of the process. */
void ending_listen(void);

/* True from the first of them on; waits before the gate opens then end. */
bool ending_asked(void);

/* Sends a signal that has come since the last call to @child, which ends the run in its own order. */
void ending_pass_on(pid_t child);

/*
 * The gate opens. @seconds is how long the run was asked to take; 0: as long as its messages take,
 * and the ends themselves notice when nothing moves. @bound_ms is for tests: all limits are that;
 * 0: as below.
 */
void ending_begin(double seconds, int64_t bound_ms);

/*
 * Call it about ten times a second. It sends SIGTERM, and SIGKILL if the end has not ended a moment
 * later:
 * - after a signal: at once the end that decides, a second later the other, all gone within 2 s;
 * - when one end has failed: the other, 3 s later;
 * - when one end has ended well: the other, 30 s later, and the run has failed;
 * - 90 s after the time that the run was asked to take: both, and the run has failed;
 * - when no end has used any processor time for 60 s: both, and the run has failed.
 */
void ending_step(struct child *children, int count);

/*
 * How much time the steps after the ends have left: no limit until there is a signal, after it the
 * rest of 2 s less the writing of the record, nothing after a second one.
 */
int64_t ending_left_ms(void);

/* What failed by one of these limits; empty: nothing. */
const char *ending_failure(void);

#endif
