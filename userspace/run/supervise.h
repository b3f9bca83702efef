/* SPDX-License-Identifier: GPL-2.0 */
/* Runs each try in a process of its own, which drops its privileges for good. */
#ifndef COPYSCOPE_SUPERVISE_H
#define COPYSCOPE_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>

#include "userspace/record/experiment.h"

/* Which try this is, and how its workload is to be scheduled. */
struct try {
	int number;	/* from 1 */
	bool fifo;	/* under SCHED_FIFO */
};

/* What a try may return besides its exit status. No exit status of trace_run is one of
 * these. The last is for who lent it hooks: see lent.h. */
enum { TRY_AGAIN = 100, TRY_AGAIN_FIFO = 101, TRY_ATTACH = 102 };

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

/* The signals that a process passes on to the child that it waits for; they are blocked while it does something else. */
struct guard {
	sigset_t heard, mask;
};

/* From now on neither this process nor its children gain privileges from a file. */
void guard_begin(struct guard *g);

/* Calls @make in a child, which dies with this process, and waits for it. Sets its wait status, and *@passed to the last
 * signal that was passed on. False with a line printed. */
bool guard_run(const struct guard *g, int (*make)(void *arg), void *arg, int *status, int *passed);

/* The exit status of such a child. If a signal that was passed on killed it, this process dies of the same signal. */
int guard_end(const struct guard *g, int status, int passed);

/* Schedules what this process does and starts from now on, under SCHED_FIFO if asked; notes it in @r. */
void retry_schedule(struct record *r, bool fifo);

/* Only notes how it is scheduled: a pass without programs needs nothing else. */
void retry_note_schedule(struct record *r);

/* True if the probes missed events, nothing else is wrong, and a try is left. */
bool retry_is_worth_it(const struct record *r);

/* Prints the reason on stderr; returns what the supervisor needs. */
int retry_once_more(const struct record *r);

#endif
