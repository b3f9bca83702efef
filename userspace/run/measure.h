/* SPDX-License-Identifier: GPL-2.0 */
/* Measures a run: has its window open from before the first byte until both ends are through. */
#ifndef COPYSCOPE_MEASURE_H
#define COPYSCOPE_MEASURE_H

#include "userspace/common/system/cpu_time.h"
#include "userspace/counters/model.h"
#include "userspace/record/experiment.h"
#include "userspace/run/ends/launch.h"
#include "userspace/run/lent.h"
#include "userspace/run/options.h"
#include "userspace/run/progress.h"
#include "userspace/run/window.h"

struct measure {
	struct window window;
	struct lent *lent;	/* whose hooks count; NULL: the run's own */
	bool asked;		/* they were not what it needs: *lent->asked is */
	struct counter_set *counters[END_COUNT];
	struct model model;
	struct cpu_clocks clocks;
	double seconds;		/* that the ends were given; 0: as long as their messages take */
	int64_t bound_ms;	/* of each wait for the ends; 0: the usual ones */
	struct progress progress;
	void (*watch)(void *arg);	/* called about ten times a second while it is open */
	void *watch_arg;
};

/*
 * Attaches probes and counters to the waiting children and drops the privileges that this took.
 * 0, or -errno with one line printed.
 */
int measure_prepare(struct measure *m, const struct options *options, const char *workload,
		    struct child children[END_COUNT], struct record *r);

/* Opens the window, releases the children, waits for their end, closes the window, reads it. */
int measure_run(struct measure *m, struct child children[END_COUNT], struct record *r);

/* What the ends that ran here say of themselves, and how they ended. */
void measure_hear_ends(const struct child children[END_COUNT], struct experiment *x);

/* A zeroed one is accepted. */
void measure_free(struct measure *m);

#endif
