/* SPDX-License-Identifier: GPL-2.0 */
/* Runs each try in a process of its own, which drops its privileges for good. */
#ifndef COPYSCOPE_SUPERVISE_H
#define COPYSCOPE_SUPERVISE_H

#include <stdbool.h>

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
 * Calls @make in a child, and again in another one as long as it returns TRY_AGAIN*. Returns the
 * exit status of the last. The calling process keeps its privileges for further tries; it only
 * waits and passes on SIGINT, SIGTERM and SIGHUP. A child dies with it, however it dies. If a
 * signal that was passed on killed the child, the caller dies of the same signal.
 */
int supervise(int (*make)(const struct try *this_one, void *arg), void *arg);

#endif
