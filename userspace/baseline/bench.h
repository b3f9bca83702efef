/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a benchmark is: a family of rows behind one struct, and one pass over one row.
 *
 * The same function is run twice: once beside perf counters, to prove what it does, and then
 * without them, to time it. Each pass runs in a process of its own, so that namespaces, mounts,
 * children and nameless files die with it, however it ends.
 */
#ifndef COPYSCOPE_BASELINE_BENCH_H
#define COPYSCOPE_BASELINE_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "userspace/baseline/events.h"
#include "userspace/baseline/facts.h"
#include "userspace/baseline/invariants.h"
#include "userspace/baseline/settings.h"

enum { ROW_INVARIANTS = 10, WORK_WHY_BYTES = 240 };

/* One pass over one row. */
struct work {
	const struct settings *settings;
	const struct facts *facts;
	struct counters *counters;	/* NULL in a timing pass */
	uint64_t x;			/* size or count at this point of a curve; 0: the row's own */
	uint64_t begun;
	uint64_t spent_ticks;		/* between region_begin and region_end */
	double value;			/* in the row's unit: what the pass found */
	double trimmed;			/* 10 % trimmed mean of single calls; NAN if none are timed */
	double witness[WITNESS_COUNT];	/* what the benchmark knows of itself; NAN: nothing */
	const void *function;		/* whose entries are counted; NULL for none */
	char device[16];		/* the network device that packets must take; "" for none */
	char how[WORK_WHY_BYTES];	/* said in the record: what was used */
	char why[WORK_WHY_BYTES];	/* set when a function below fails */
	void *own;			/* the family's */
};

struct row {
	const char *name;
	const char *title;
	const char *unit;		/* ns, us, ms, GB/s, Mbit/s or MiB */
	int which;			/* the family's */
	bool takes_turns;		/* its tasks share a CPU: that they wait is no disturbance */
	bool extra;			/* not one of the 36 rows of the published summary */
	uint64_t calls, quick_calls;	/* timed in one run */
	uint64_t counted_calls;		/* in the counting pass */
	int most_runs;			/* 0: as many as the protocol says */
	/* The x of point @i of the row's curve, 0 behind the last; NULL: no curve. */
	uint64_t (*point)(const struct work *w, int i);
	const char *x_unit;
	const char *y_unit;		/* of the curve; NULL: the row's */
	struct invariant invariants[ROW_INVARIANTS];
};

struct family {
	const char *name;
	bool root;			/* cannot run at all without it */
	const struct row *rows;
	int count;
	/* Each returns 0, or -errno with w->why set. undo runs after prepare, even a failed one. */
	int (*prepare)(struct work *w, const struct row *row);
	int (*time)(struct work *w, const struct row *row, uint64_t calls);
	void (*undo)(struct work *w);
};

/* The clock and, in a counting pass, the counters run between these two. */
void region_begin(struct work *w);
void region_end(struct work *w);

/* Goes on and stops the clock alone, for what is timed in pieces within the region. */
uint64_t work_tick(void);

/* Sets w->value to the region's time per call, in the row's unit. */
void work_per_call(struct work *w, const struct row *row, uint64_t calls);

/* Sets value and trimmed from the ticks of single calls. */
void work_singles(struct work *w, const struct row *row, uint64_t *ticks, uint64_t calls);

/*
 * CPU time of twice the turns over that of once: about 2, unless they overlap or were left out.
 * @own is what @turn works on.
 */
double work_slope(void (*turn)(void *own, uint64_t turns), void *own);

/* Says why a pass failed; returns -@err for the caller to return. */
int work_fail(struct work *w, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A child that dies with this process. */
pid_t work_fork(void);
void work_reap(pid_t pid);

/* Keeps this process, and children made later, on one CPU: the @index-th it may use. */
void work_pin(int index);

/* The number of that CPU; -1 if the kernel does not tell. */
int work_cpu(int index);

/* Seconds by the monotonic clock, for deadlines. */
double work_now(void);

#endif
