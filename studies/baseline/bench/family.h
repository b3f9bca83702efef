/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a benchmark is: a family of rows behind one struct.
 *
 * The same function is run twice: once beside perf counters, to prove what it does, and then
 * without them, to time it.
 */
#ifndef COPYSCOPE_BASELINE_FAMILY_H
#define COPYSCOPE_BASELINE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/baseline/bench/work.h"
#include "studies/baseline/proof/invariants.h"

enum { ROW_INVARIANTS = 10 };

struct row {
	const char *name;
	const char *title;
	const char *unit;		/* ns, us, ms, GHz, GB/s, Mbit/s or MiB */
	int which;			/* the family's */
	bool takes_turns;		/* its tasks share a CPU: that they wait is no disturbance */
	bool extra;			/* not one of the 36 rows of the published summary */
	bool shows_levels;		/* its curve tells where caches end, and is drawn first of all */
	bool shows_clock;		/* its number is the core's clock, by which estimates are made */
	bool one_mode;			/* runs of two modes give no number: see docs/BASELINE.md */
	int warm_ups;			/* runs that each process makes first, and drops */
	uint64_t calls, quick_calls;	/* timed in one run */
	uint64_t counted_calls;		/* in the counting pass */
	int most_runs;			/* 0: as many as the protocol says */
	int most_quick_runs;
	/* The x of point @i of the row's curve, 0 behind the last; NULL: no curve. */
	uint64_t (*point)(const struct work *w, int i);
	const char *x_unit;
	const char *y_unit;		/* of the curve; NULL: the row's */
	struct invariant invariants[ROW_INVARIANTS];
};

struct family {
	const char *name;
	bool root;			/* cannot run at all without it */
	bool needs_levels;		/* its working sets lie in a cache, or in none */
	const struct row *rows;
	int count;
	/* Each returns 0, or -errno with w->why set. undo runs after prepare, even a failed one. */
	int (*prepare)(struct work *w, const struct row *row);
	int (*time)(struct work *w, const struct row *row, uint64_t calls);
	void (*undo)(struct work *w);
};

#endif
