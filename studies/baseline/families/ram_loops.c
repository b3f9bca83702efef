// SPDX-License-Identifier: GPL-2.0
/*
 * Family kernels: main memory read, written and copied by several well-known loops, so that the
 * plain rows can be seen as a share of the best.
 */
#include <errno.h>
#include <stdio.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/memory.h"
#include "studies/baseline/families/families.h"

static int prepare_kernels(struct work *w, const struct row *row)
{
	const struct memory_loop *loop = memory_loop(row->which);

	if (!loop->has())
		return work_fail(w, 0, "this processor has no %s", loop->lacks);
	return 0;
}

/* @calls is in MiB; a counting pass makes one turn over exactly so much. */
static int time_kernels(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t large = ram_large_bytes(w->machine), bytes = w->counting ? calls << 20 : large;
	struct arrays *a = w->own;

	if (!large)
		return work_fail(w, 0, "too little free memory for arrays that no cache holds");
	if (!a)
		a = w->own = arrays_new(bytes);
	if (!a)
		return work_fail(w, errno, "no memory");
	task_pin(0);
	memory_loop_time(w, memory_loop(row->which), a, calls);
	snprintf(w->how, sizeof(w->how), "%llu MiB, one thread, counted once a byte",
		 (unsigned long long)bytes >> 20);
	return 0;
}

static void undo_kernels(struct work *w)
{
	arrays_free(w->own);
}

static const struct row rows[] = {
#define X(id, text, run, has, lacks)                                                        \
	{ .name = "ram-" id, .title = "memory " text, .unit = "GB/s",                    \
	  .which = LOOP_##run, .extra = true, .calls = 512, .quick_calls = 256,           \
	  .counted_calls = 31, .invariants = { ALL_IN_USER_MODE, EACH_BYTE } },
	MEMORY_LOOPS(X)
#undef X
};

const struct family family_kernels = {
	.name = "kernels", .needs_levels = true, .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_kernels, .time = time_kernels, .undo = undo_kernels,
};
