/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every benchmark is made of: families of rows, a pass over one of them, the region of it that is
 * timed or counted, and its children.
 */
#ifndef COPYSCOPE_BASELINE_BENCH_H
#define COPYSCOPE_BASELINE_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "studies/baseline/bench/events.h"
#include "studies/baseline/bench/machine.h"
#include "studies/baseline/bench/proof.h"

enum { RUNS_MAX = 30, ROUNDS_MAX = 10, WORK_WHY_BYTES = 240, ROW_INVARIANTS = 10 };

/* How rows are measured: what the user asked for, and what this machine allows. */
struct protocol {
	bool quick;
	bool drop_caches;		/* the whole machine's, not only the test's own */
	int runs, rounds;
	double rtt_ms;			/* that is added on the remote path; 0 between NICs */
	char nics[2][16];		/* that join the two ends of the remote path; "" for none */
	uint64_t cache_bytes;		/* of memory, for the row that fills the page cache */
	const char *dir;		/* where files are made, nameless */
	enum injected fault;		/* on purpose; INJECT_NONE unless a test asks for one */
};

/*
 * One pass over one row: its input and its results.
 *
 * Each pass runs in a process of its own. Its namespaces, mounts, children and nameless files end with
 * that process.
 */
struct work {
	const struct protocol *protocol;
	const struct machine_info *machine;
	struct counting *counting;	/* NULL in a timing pass */
	uint64_t x;			/* size or count at this point of a curve; 0: the row's own */
	uint64_t begun;
	uint64_t spent_ticks;		/* between region_begin and region_end */
	double value;			/* in the row's unit: what the pass found */
	double trimmed;			/* 10 % trimmed mean of single calls; NAN if none are timed */
	double witness[WITNESS_COUNT];	/* what the benchmark knows of itself; NAN: nothing */
	const void *function;		/* whose entries are counted; NULL for none */
	char device[16];		/* the network device that packets must take; "" for none */
	char how[WORK_WHY_BYTES];	/* said in the record: what was used */
	char why[WORK_WHY_BYTES];	/* set by work_fail */
	void *own;			/* the family's */
};

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

/* The same function is run twice: beside perf counters, to prove what it does, and without, to time it. */
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

/* A pass that has found nothing yet. */
void work_init(struct work *w, const struct protocol *protocol, const struct machine_info *machine);

/* Says in w->why why a pass failed; returns -@err for the caller to return. */
int work_fail(struct work *w, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The clock and, in a counting pass, the counters run between these two. */
void region_begin(struct work *w);
void region_end(struct work *w);

/* The clock alone, for what is timed in pieces within the region. */
uint64_t region_tick(void);

/* Sets w->value to the region's time per call, in the row's unit. */
void region_per_call(struct work *w, const struct row *row, uint64_t calls);

/* Sets value and trimmed from the ticks of single calls. */
void region_singles(struct work *w, const struct row *row, uint64_t *ticks, uint64_t calls);

/* A child that dies with this process. */
pid_t task_fork(void);
/* Kills and collects it; 0 or less is no child. */
void task_reap(pid_t pid);

/* Keeps this process, and children made later, on one CPU: the @index-th it may use. */
void task_pin(int index);

/* The number of that CPU; -1 if the kernel does not tell. */
int task_cpu(int index);

#endif
