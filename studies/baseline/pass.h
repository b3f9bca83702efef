/* SPDX-License-Identifier: GPL-2.0 */
/* Runs one pass over a row in a process of its own, which ends with all that it made. */
#ifndef COPYSCOPE_BASELINE_PASS_H
#define COPYSCOPE_BASELINE_PASS_H

#include "studies/baseline/outcome.h"

struct pass_request {
	const struct family *family;
	const struct row *row;
	const struct protocol *protocol;
	const struct machine_info *machine;
	bool counting;			/* once, beside counters; else timed */
	uint64_t calls;
	int runs;			/* of a timing pass; 0: its curve alone */
	bool curve;			/* and the row's curve after them */
};

/* What a pass found. */
struct pass {
	bool done;			/* it came to its end, however well */
	int err;			/* -errno with @why */
	char how[WORK_WHY_BYTES], why[WORK_WHY_BYTES];
	double counted[EVENT_COUNT + WITNESS_COUNT];
	double values[RUNS_MAX], trimmed[RUNS_MAX];
	struct point points[POINTS_MAX];
	int point_count;
	double waited;			/* share of its time that it wanted a CPU and had none */
};

/* Valid until the next call. In a counting pass, @why without an error says what cannot be counted. */
const struct pass *pass_run(const struct pass_request *request);

/* Ends the pass that runs, and every later one at once; safe in a signal handler. */
void pass_stop(void);
bool pass_stopped(void);

#endif
