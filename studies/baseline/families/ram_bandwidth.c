// SPDX-License-Identifier: GPL-2.0
/* Family bandwidth: reading, writing and copying memory that no cache holds. */
#include <errno.h>
#include <stdio.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/memory.h"
#include "studies/baseline/families/families.h"

enum { READ, WRITE, COPY };
enum { SMALLEST_COPY = 4096, LARGEST_COPY = 64 << 20 };

/* A counting pass makes one turn over exactly what it is asked for. */
static uint64_t bytes_of(const struct work *w, uint64_t calls)
{
	uint64_t large = ram_large_bytes(w->machine);

	if (w->counting && large)
		return calls << 20;
	return w->x ? w->x : large;
}

static int make_arrays(struct work *w, uint64_t bytes)
{
	const struct arrays *a = w->own;

	if (a && a->bytes == bytes)
		return 0;
	if (!bytes)
		return work_fail(w, 0, "too little free memory for arrays that no cache holds");
	arrays_free(w->own);
	w->own = arrays_new(bytes);
	return w->own ? 0 : work_fail(w, errno, "no memory");
}

/* By 64-bit words, in loops that the compiler may not turn into wider ones, or by memcpy. Normal
 * stores: each line is first read from memory, which the number does not count. */
static const struct memory_loop *loop_of(const struct row *row)
{
	static const enum memory_loop_id loops[] = {
		[READ] = LOOP_read_unrolled, [WRITE] = LOOP_write_unrolled, [COPY] = LOOP_copy_memcpy,
	};

	return memory_loop(loops[row->which]);
}

/* @calls is in MiB, so that small arrays are passed over more often. */
static int time_bandwidth(struct work *w, const struct row *row, uint64_t calls)
{
	int err = make_arrays(w, bytes_of(w, calls));
	const struct arrays *a = w->own;

	if (err)
		return err;
	task_pin(0);
	memory_loop_time(w, loop_of(row), a, calls);
	snprintf(w->how, sizeof(w->how), "%llu MiB, %s, one thread",
		 (unsigned long long)a->bytes >> 20, row->which == COPY ? "memcpy" :
		 row->which == READ ? "64-bit loads" : "64-bit stores, not streaming ones");
	return 0;
}

static void undo_bandwidth(struct work *w)
{
	arrays_free(w->own);
	w->own = NULL;
}

static uint64_t sizes(const struct work *w, int i)
{
	uint64_t bytes = (uint64_t)SMALLEST_COPY << i;

	return bytes <= LARGEST_COPY && bytes <= w->machine->available_bytes / 8 ? bytes : 0;
}

#define ROW(id, text, number, is_extra, curve)                                             \
	{ .name = id, .title = text, .unit = "GB/s", .which = number, .extra = is_extra,    \
	  .calls = 1024, .quick_calls = 256, .counted_calls = 31, .point = curve,           \
	  .x_unit = "bytes", .invariants = { ALL_IN_USER_MODE, EACH_BYTE } }

static const struct row rows[] = {
	ROW("memory-read", "reading main memory", READ, false, NULL),
	ROW("memory-write", "writing main memory", WRITE, false, NULL),
	ROW("memory-copy", "copying main memory (bytes copied)", COPY, true, sizes),
};

const struct family family_bandwidth = {
	.name = "bandwidth", .needs_levels = true, .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.time = time_bandwidth, .undo = undo_bandwidth,
};
