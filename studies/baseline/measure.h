/* SPDX-License-Identifier: GPL-2.0 */
/* Measures one row: a counting pass that proves what it does, and timing passes without counters. */
#ifndef COPYSCOPE_BASELINE_MEASURE_H
#define COPYSCOPE_BASELINE_MEASURE_H

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/stats.h"

enum { POINTS_MAX = 32, POINT_REPEATS = 10 };

enum status { NOT_MEASURED, VALID, INVALID, UNCHECKED };

/* One point of a row's curve. */
struct point {
	uint64_t x;
	int n;
	double values[POINT_REPEATS];
	double disk_bytes;	/* read from disks in the last repeat; NAN: not told */
};

/* What was found for one row. */
struct outcome {
	const struct family *family;
	const struct row *row;
	enum status status;
	char why[WORK_WHY_BYTES * 2];
	char how[WORK_WHY_BYTES];
	enum proof proof;
	struct finding findings[ROW_INVARIANTS];
	uint64_t counted_calls, calls;
	int runs, rounds;			/* values: runs of round 0, of round 1, ... */
	double values[RUNS_MAX * ROUNDS_MAX];
	double trimmed[RUNS_MAX * ROUNDS_MAX];
	struct point points[POINTS_MAX];
	int point_count;
	double waited;			/* most of a round's time that it wanted a CPU and had none */
	double seconds;			/* that all passes took */
	struct spread spread;
};

/* Draws the curve of a row that shows the levels of the cache, and finds them in it. */
void measure_levels(struct outcome *o, const struct protocol *protocol,
		    struct machine_info *machine);

/* Finds the core's clock by short runs of the row that shows it. */
void measure_clock(const struct outcome *o, const struct protocol *protocol,
		   struct machine_info *machine);

/* The counting pass. */
void measure_prove(struct outcome *o, const struct protocol *protocol,
		   const struct machine_info *machine);

/* One round of timing runs; with the curve if it is the first. */
void measure_time(struct outcome *o, const struct protocol *protocol,
		  const struct machine_info *machine);

/* Sums the row up once all rounds are done. */
void measure_sum(struct outcome *o);

/* Ends the pass that runs, and every later one at once; safe in a signal handler. */
void pass_stop(void);
bool pass_stopped(void);

#endif
