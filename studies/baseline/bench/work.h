/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One pass over one row: its input and its results.
 *
 * Each pass runs in a process of its own. Its namespaces, mounts, children and nameless files end with
 * that process.
 */
#ifndef COPYSCOPE_BASELINE_WORK_H
#define COPYSCOPE_BASELINE_WORK_H

#include <stdint.h>

#include "studies/baseline/bench/protocol.h"
#include "studies/baseline/machine/machine_info.h"
#include "studies/baseline/proof/counting.h"
#include "studies/baseline/proof/invariants.h"

enum { WORK_WHY_BYTES = 240 };

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

/* A pass that has found nothing yet. */
void work_init(struct work *w, const struct protocol *protocol, const struct machine_info *machine);

/* Says in w->why why a pass failed; returns -@err for the caller to return. */
int work_fail(struct work *w, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
