/* SPDX-License-Identifier: GPL-2.0 */
/* Runs each try in a process of its own, which drops its privileges for good. */
#ifndef COPYSCOPE_SUPERVISE_H
#define COPYSCOPE_SUPERVISE_H

#include <stdbool.h>

#include "userspace/record/experiment.h"

/* Which try this is, and how its workload is to be scheduled. */
struct try {
	int number;	/* from 1 */
	bool fifo;	/* under SCHED_FIFO */
};

/* What a try may return besides its exit status. No exit status of trace_run is one of
 * these. */
enum { TRY_AGAIN = 100, TRY_AGAIN_FIFO = 101 };

/* Never more tries than this, whatever they return. */
enum { TRIES_MAX = 5 };

/*
 * Calls @make in a child, and again in another one as long as it returns TRY_AGAIN*. Before each
 * further try it calls @anew in this process, whose status ends it all if it is not 0. Returns the
 * exit status of the last. The calling process keeps its privileges for further tries; besides it
 * only waits and passes on SIGINT, SIGTERM and SIGHUP. A child dies with it, however it dies. If a
 * signal that was passed on killed the child, the caller dies of the same signal.
 */
int supervise(int (*make)(const struct try *this_one, void *arg), int (*anew)(void *arg), void *arg);

/* Schedules what this process does and starts from now on, under SCHED_FIFO if asked; notes it in @r. */
void retry_schedule(struct record *r, bool fifo);

/* Only notes how it is scheduled: a pass without programs needs nothing else. */
void retry_note_schedule(struct record *r);

/* True if the probes missed events, nothing else is wrong, and a try is left. */
bool retry_is_worth_it(const struct record *r);

/* Prints the reason on stderr; returns what the supervisor needs. */
int retry_once_more(const struct record *r);

#endif
