/* SPDX-License-Identifier: GPL-2.0 */
/* The window of a run: probes and counters attached first, then one store opens it. */
#ifndef COPYSCOPE_WINDOW_H
#define COPYSCOPE_WINDOW_H

#include "userspace/probes/probes.h"
#include "userspace/run/ends/launch.h"
#include "userspace/run/options/options.h"

struct window {
	struct probes *probes;	/* NULL for a run without probes */
	struct counter_set *counters[END_COUNT];
	uint64_t opened_ns;
	int64_t bound_ms;	/* of each wait for the ends; 0: the usual ones */
	bool progress;
	void (*watch)(void *arg);	/* called about ten times a second while it is open */
	void *watch_arg;
};

/*
 * Attaches probes and counters to the waiting children and drops the privileges that this took.
 * 0, or -errno with one line printed.
 */
int window_prepare(struct window *w, const struct options *options, const char *workload,
		   struct child children[END_COUNT], struct record *r);

/* Opens the gate, releases the children, waits for their end, closes the gate, reads everything. */
int window_measure(struct window *w, struct child children[END_COUNT], struct record *r);

/* A zeroed window is accepted. */
void window_free(struct window *w);

#endif
