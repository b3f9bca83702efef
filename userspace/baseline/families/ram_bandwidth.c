// SPDX-License-Identifier: GPL-2.0
/* Family bandwidth: reading, writing and copying memory that no cache holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/baseline/bench/region.h"
#include "userspace/baseline/bench/task.h"
#include "userspace/baseline/bench/work.h"
#include "userspace/baseline/families/families.h"
#include "userspace/baseline/families/shared_invariants.h"
#include "userspace/baseline/lab/ram.h"
#include "userspace/baseline/timing/clock.h"

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

/* Four sums, so that no addition waits for the load of the one before. */
static uint64_t read_all(const char *from, uint64_t bytes)
{
	const uint64_t *at = (const uint64_t *)from, *end = at + bytes / sizeof(*at);
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (; at < end; at += 8) {
		a += at[0] + at[4];
		b += at[1] + at[5];
		c += at[2] + at[6];
		d += at[3] + at[7];
	}
	return a + b + c + d;
}

/* Normal stores: each line is first read from memory, which the number does not count. */
static void write_all(char *to, uint64_t bytes)
{
	uint64_t *at = (uint64_t *)to, *end = at + bytes / sizeof(*at);

	for (; at < end; at += 8) {
		at[0] = at[1] = at[2] = at[3] = 1;
		at[4] = at[5] = at[6] = at[7] = 1;
		asm volatile("" : : : "memory");
	}
}

/* The number of words that were read. */
static uint64_t pass(const struct arrays *a, int which)
{
	uint64_t words = 0;

	if (which == READ)
		words = read_all(a->from, a->bytes);
	else if (which == WRITE)
		write_all(a->to, a->bytes);
	else
		memcpy(a->to, a->from, a->bytes);
	asm volatile("" : "+r"(words) : : "memory");
	return words;
}

/* @calls is in MiB, so that small arrays are passed over more often. */
static int time_bandwidth(struct work *w, const struct row *row, uint64_t calls)
{
	int err = make_arrays(w, bytes_of(w, calls));
	struct arrays *a = w->own;
	uint64_t turns, words;

	if (err)
		return err;
	task_pin(0);
	turns = (calls << 20) / a->bytes;
	turns = turns ? turns : 1;
	words = w->counting ? 0 : pass(a, row->which);
	region_begin(w);
	for (uint64_t i = 0; i < turns; i++)
		words = pass(a, row->which);
	region_end(w);
	w->value = turns * a->bytes / clock_ns(w->spent_ticks);
	if (w->counting)
		w->witness[WITNESS_TOUCHED] = row->which == READ ? words * sizeof(words)
								 : arrays_written(a);
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
	.name = "bandwidth", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.time = time_bandwidth, .undo = undo_bandwidth,
};
