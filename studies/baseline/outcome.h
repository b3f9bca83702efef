/* SPDX-License-Identifier: GPL-2.0 */
/* What was found for one row, as plain data. */
#ifndef COPYSCOPE_BASELINE_OUTCOME_H
#define COPYSCOPE_BASELINE_OUTCOME_H

#include "studies/baseline/bench/family.h"
#include "studies/baseline/timing/stats.h"

enum { POINTS_MAX = 32, POINT_REPEATS = 10 };

enum status { NOT_MEASURED, VALID, INVALID, UNCHECKED };

/* One point of a row's curve. */
struct point {
	uint64_t x;
	int n;
	double values[POINT_REPEATS];
	double disk_bytes;	/* read from disks in the last repeat; NAN: not told */
};

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

#endif
