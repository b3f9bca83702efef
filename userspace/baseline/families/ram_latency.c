// SPDX-License-Identifier: GPL-2.0
/*
 * Family latency: one load that must wait for the one before, by working set. The pointers of a
 * random cycle through all cache lines defeat the prefetcher; an array walk shows what it hides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "userspace/baseline/bench/region.h"
#include "userspace/baseline/bench/task.h"
#include "userspace/baseline/bench/work.h"
#include "userspace/baseline/families/families.h"
#include "userspace/baseline/families/shared_invariants.h"
#include "userspace/baseline/lab/ram.h"
#include "userspace/baseline/timing/slope.h"

enum { L1, L2, L2_PAGED, L3, MAIN, ARRAY };
enum { LINE_BYTES = 64, LINES_A_PAGE = 4096 / LINE_BYTES, SMALLEST = 4096 };

struct line {
	struct line *next;
	char rest[LINE_BYTES - sizeof(struct line *)];
};

struct chain {
	struct line *lines, *at;
	uint64_t bytes;
};

static uint64_t bytes_of(const struct work *w, const struct row *row)
{
	const struct machine_info *m = w->machine;

	if (w->x)
		return w->x;
	switch (row->which) {
	case L1:
		return m->l1d_bytes / 2;
	case L2:
	case L2_PAGED:
		return m->l2_bytes / 2;
	case L3:
		return m->l3_bytes / 2;
	default:
		return ram_large_bytes(m);
	}
}

/* Sattolo's shuffle of 0 to @count - 1. */
static void shuffle(uint32_t *order, uint64_t count)
{
	uint64_t state = 88172645463325252ull;

	for (uint64_t i = 0; i < count; i++)
		order[i] = i;
	for (uint64_t i = count - 1; i > 0; i--) {
		uint64_t j;
		uint32_t other;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		j = state % i;
		other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
}

/* Each page once, then each again: as lmbench's lat_mem_rd -t goes round. */
static void order_by_pages(uint32_t *order, uint64_t count)
{
	uint64_t pages = count / LINES_A_PAGE;
	uint32_t *page = malloc(pages * sizeof(*page)), line[LINES_A_PAGE];

	if (!page)
		abort();
	shuffle(page, pages);
	shuffle(line, LINES_A_PAGE);
	for (uint64_t i = 0; i < pages * LINES_A_PAGE; i++)
		order[i] = page[i % pages] * LINES_A_PAGE + line[i / pages];
	free(page);
}

/* One cycle through all lines, none left out. */
static void link_lines(struct line *lines, uint64_t count, int which)
{
	uint32_t *order = malloc(count * sizeof(*order));

	if (!order)
		abort();
	if (which == L2_PAGED)
		order_by_pages(order, count);
	else
		shuffle(order, count);
	for (uint64_t i = 0; which == ARRAY && i < count; i++)
		order[i] = i;
	for (uint64_t i = 0; i < count; i++)
		lines[order[i]].next = &lines[order[(i + 1) % count]];
	free(order);
}

static struct line *walk(struct line *at, uint64_t loads)
{
	for (; loads >= 8; loads -= 8)
		at = at->next->next->next->next->next->next->next->next;
	while (loads--)
		at = at->next;
	asm volatile("" : : "r"(at));
	return at;
}

/* Kept between runs of a process: linking costs more than walking. */
static int make_chain(struct work *w, const struct row *row)
{
	struct chain *c = w->own;
	uint64_t bytes = bytes_of(w, row);

	if (c && c->bytes == bytes)
		return 0;
	if (!bytes)
		return work_fail(w, 0, row->which >= MAIN ?
				 "too little free memory for a working set that no cache holds" :
				 "the kernel does not tell the size of this cache");
	if (c)
		ram_free(c->lines, c->bytes);
	else
		c = w->own = calloc(1, sizeof(*c));
	c->lines = ram_get(bytes);
	c->bytes = bytes;
	if (!c->lines)
		return work_fail(w, errno, "no memory for a working set of %llu KiB",
				 (unsigned long long)bytes >> 10);
	link_lines(c->lines, bytes / sizeof(struct line), row->which);
	/* Once round: what a cache can hold of it, it holds. */
	c->at = walk(c->lines, bytes / sizeof(struct line));
	return 0;
}

static void walk_on(void *chain, uint64_t loads)
{
	struct chain *c = chain;

	c->at = walk(c->at, loads);
}

/* Loads from @from to where the chain is now; of whole rounds, as many as @asked has room for. */
static uint64_t loads_since(const struct chain *c, const struct line *from, uint64_t asked)
{
	uint64_t lines = c->bytes / sizeof(struct line), loads = 0;

	for (; from != c->at; from = from->next)
		loads++;
	return loads + (asked > loads ? (asked - loads) / lines * lines : 0);
}

/* Of a round, how much a prefetcher would foresee. */
static double orderly_share(const struct chain *c)
{
	uint64_t lines = c->bytes / sizeof(struct line), orderly = 0;

	for (uint64_t i = 0; i < lines; i++)
		orderly += c->lines[i].next == &c->lines[(i + 1) % lines];
	return (double)orderly / lines;
}

/* Each run goes on where the last one stopped. A run that began anew would find its lines cached. */
static int time_latency(struct work *w, const struct row *row, uint64_t calls)
{
	const struct line *from;
	struct chain *c;
	int err;

	task_pin(0);
	err = make_chain(w, row);
	if (err)
		return err;
	c = w->own;
	from = c->at;
	region_begin(w);
	walk_on(c, calls);
	region_end(w);
	region_per_call(w, row, calls);
	if (!w->counting)
		return 0;
	w->witness[WITNESS_TURNS] = loads_since(c, from, calls);
	w->witness[WITNESS_ORDERLY] = orderly_share(c);
	w->witness[WITNESS_SLOPE] = slope_of(walk_on, c);
	w->witness[WITNESS_BYTES] = ram_huge_bytes(c->lines);
	snprintf(w->how, sizeof(w->how), "working set of %llu KiB, %.0f KiB of it in huge pages",
		 (unsigned long long)c->bytes >> 10, w->witness[WITNESS_BYTES] / 1024);
	return 0;
}

static void undo_latency(struct work *w)
{
	struct chain *c = w->own;

	if (c)
		ram_free(c->lines, c->bytes);
	free(c);
	w->own = NULL;
}

static uint64_t sizes(const struct work *w, int i)
{
	/* Every third power of two will do for a quick look. */
	uint64_t bytes = (uint64_t)SMALLEST << (w->protocol->quick ? 3 * i : i);
	uint64_t limit = ram_large_bytes(w->machine);

	return bytes <= limit ? bytes : 0;
}

#define AT_RANDOM                                                                           \
	{ AT_MOST, WITNESS(WITNESS_ORDERLY), 0, 0.02, 0, "no prefetcher foresees the order" }
#define IN_ORDER                                                                            \
	{ EXACTLY, WITNESS(WITNESS_ORDERLY), 0, 1, 0, "each load is of the next line" }

#define ROW(id, text, number, is_extra, curve, order)                                             \
	{ .name = id, .title = text, .unit = "ns", .which = number, .extra = is_extra,      \
	  .calls = 1000000, .quick_calls = 100000, .counted_calls = 100003,                 \
	  .point = curve, .x_unit = "bytes",                                                \
	  .invariants = { ALL_IN_USER_MODE,                                                 \
		TWICE_THE_TIME("twice the loads take twice as long: each waits for the last"), \
		{ EXACTLY, WITNESS(WITNESS_TURNS), 1, 0, 0, "the cycle is walked so far" }, \
		order } }

static const struct row rows[] = {
	ROW("latency-l1", "load from the L1 cache", L1, false, NULL, AT_RANDOM),
	ROW("latency-l2", "load from the L2 cache", L2, false, NULL, AT_RANDOM),
	ROW("latency-l2-paged", "load from the L2 cache, another page each time", L2_PAGED, true,
	    NULL, AT_RANDOM),
	ROW("latency-l3", "load from the L3 cache", L3, false, NULL, AT_RANDOM),
	ROW("latency-memory", "load from main memory", MAIN, false, sizes, AT_RANDOM),
	ROW("latency-array", "load of the next line of an array: prefetched", ARRAY, true, sizes,
	    IN_ORDER),
};

const struct family family_latency = {
	.name = "latency", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.time = time_latency, .undo = undo_latency,
};
