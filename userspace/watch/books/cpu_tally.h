/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of the clock over a whole watch, whose tables in the kernel hold a turn of them: in bounds; pure.
 *
 * A place in the kernel is kept by its class. Beyond the bounds addresses in user space are told no more, then threads,
 * then processes: samples of these are counted as lost.
 */
#ifndef COPYSCOPE_WATCH_CPU_TALLY_H
#define COPYSCOPE_WATCH_CPU_TALLY_H

#include "userspace/record/cpu.h"

enum { CPU_ROWS_MOST = 1 << 17, CPU_SPANS_MOST = 1 << 16 };

/* Of places by process, thread, class and address; of threads by process, number and first sample. A zeroed one is
 * empty. */
struct cpu_tally {
	struct cpu_stack *rows;	/* owned, these two */
	struct cpu_span *spans;
	int row_count, span_count;
	uint64_t lost;		/* found no room in the kernel, and beyond the bounds here */
	uint64_t dropped;	/* those beyond the bounds */
};

/* Takes what a turn found; sorts it. 0 or -ENOMEM. */
int cpu_tally_add(struct cpu_tally *t, struct cpu_samples *came);

/* All until now, with one span for each thread; what *@all owns is the caller's to free. 0 or -ENOMEM. */
int cpu_tally_all(const struct cpu_tally *t, struct cpu_samples *all);

/* Frees what it owns and empties it. */
void cpu_tally_free(struct cpu_tally *t);

#endif
