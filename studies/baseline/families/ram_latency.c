// SPDX-License-Identifier: GPL-2.0
/*
 * Family latency: one load that must wait for the one before, by working set. The pointers of a
 * random cycle through all cache lines defeat the prefetcher; an array walk shows what it hides.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/memory.h"
#include "studies/baseline/bench/proof.h"
#include "studies/baseline/families/families.h"

enum { LINE_BYTES = 64, LINES_A_PAGE = 4096 / LINE_BYTES };
/* From here on sets of powers of two are linked in order of addresses: seconds less for a GiB. */
enum { LARGE_BYTES = 32 << 20 };
/* As many loads a stretch as make reading the clock a small part even in the L1 cache. */
enum { STRETCHES = 1000, STRETCH_LOADS = 256 };

enum chain_order {
	CHAIN_AT_RANDOM,
	CHAIN_BY_PAGES,		/* each page once, then each again: as lmbench's lat_mem_rd -t */
	CHAIN_IN_ORDER,
};

struct line {
	struct line *next;
	char rest[LINE_BYTES - sizeof(struct line *)];
};

/* A cycle through all cache lines of a working set: each load has to wait for the one before. */
struct chain {
	struct line *lines, *at;
	uint64_t bytes;
};

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

static void link_by(struct line *lines, uint64_t count, enum chain_order how)
{
	uint32_t *order = malloc(count * sizeof(*order));

	if (!order)
		abort();
	if (how == CHAIN_BY_PAGES)
		order_by_pages(order, count);
	else
		shuffle(order, count);
	for (uint64_t i = 0; i < count; i++)
		lines[order[i]].next = &lines[order[(i + 1) % count]];
	free(order);
}

/*
 * Line i leads to line a i + c modulo a power of two: one cycle, as c is odd and a - 1 a multiple of
 * four (Hull and Dobell, 1962).
 */
static void link_by_congruence(struct line *lines, uint64_t count, uint64_t a, uint64_t c)
{
	for (uint64_t i = 0; i < count; i++)
		lines[i].next = &lines[(a * i + c) & (count - 1)];
}

/* One cycle through all lines, none left out. */
static void link_lines(struct line *lines, uint64_t count, enum chain_order how)
{
	bool power_of_two = !(count & (count - 1));

	if (how == CHAIN_IN_ORDER) {
		for (uint64_t i = 0; i < count; i++)
			lines[i].next = &lines[(i + 1) % count];
	} else if (how == CHAIN_AT_RANDOM && power_of_two && count >= LARGE_BYTES / LINE_BYTES) {
		link_by_congruence(lines, count, 2654435769, 1442695041);
	} else {
		link_by(lines, count, how);
	}
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

static void chain_free(struct chain *c)
{
	ram_free(c->lines, c->bytes);
	*c = (struct chain){};
}

/* Goes on where the last walk stopped: one that began anew would find its lines cached. */
static void chain_walk(void *chain, uint64_t loads)
{
	struct chain *c = chain;

	c->at = walk(c->at, loads);
}

/* Makes *@c anew unless it has that size, and goes round once. 0, or -errno with w->why set. */
static int chain_make(struct work *w, struct chain *c, uint64_t bytes, enum chain_order order)
{
	if (c->bytes == bytes)
		return 0;
	chain_free(c);
	c->lines = ram_get(bytes);
	if (!c->lines)
		return work_fail(w, errno, "no memory for a working set of %llu KiB",
				 (unsigned long long)bytes >> 10);
	c->bytes = bytes;
	link_lines(c->lines, bytes / LINE_BYTES, order);
	/* Once round: what a cache can hold of it, it holds. None holds more than is told. */
	c->at = c->lines;
	if (bytes <= ram_told_bytes(w->machine) || bytes < LARGE_BYTES)
		chain_walk(c, bytes / LINE_BYTES);
	return 0;
}

/* Loads from @from to where the chain is now; of whole rounds, as many as @asked has room for. */
static uint64_t chain_loads_since(const struct chain *c, const struct line *from, uint64_t asked)
{
	uint64_t lines = c->bytes / LINE_BYTES, loads = 0;

	for (; from != c->at; from = from->next)
		loads++;
	return loads + (asked > loads ? (asked - loads) / lines * lines : 0);
}

/* Share of loads that go to the next line in memory: how much a prefetcher would foresee. */
static double chain_orderly_share(const struct chain *c)
{
	uint64_t lines = c->bytes / LINE_BYTES, orderly = 0;

	for (uint64_t i = 0; i < lines; i++)
		orderly += c->lines[i].next == &c->lines[(i + 1) % lines];
	return (double)orderly / lines;
}

/* Share of short stretches whose loads take less than @limit_ns each; NAN if that is not known. */
static double chain_fast_share(struct chain *c, double limit_ns)
{
	int fast = 0;

	for (int i = 0; i < STRETCHES; i++) {
		uint64_t from = clock_end();

		chain_walk(c, STRETCH_LOADS);
		fast += clock_ns(clock_end() - from) < limit_ns * STRETCH_LOADS;
	}
	return isnan(limit_ns) ? NAN : (double)fast / STRETCHES;
}

enum { L1, L2, L2_PAGED, L3, MAIN, ARRAY };
/* Sizes of the curve: 4 and 6 KiB, 8 and 12, and so on; beyond 16 MiB powers of two alone. */
enum { SMALLEST = 4096, FINE_POINTS = 24, PAGE = 4096 };

static const enum level_id level_of[] = {
	[L1] = LEVEL_L1, [L2] = LEVEL_L2, [L2_PAGED] = LEVEL_L2, [L3] = LEVEL_L3,
	[MAIN] = LEVEL_MEMORY, [ARRAY] = LEVEL_MEMORY,
};

/* The level that a row works in; another one if a test asks for that. */
static enum level_id place_of(const struct work *w, const struct row *row)
{
	enum level_id level = level_of[row->which];

	if (w->counting && w->protocol->fault == INJECT_ELSEWHERE)
		return (level + 1) % LEVELS;
	return level;
}

/* 0 and w->why where there is no such working set. */
static uint64_t bytes_of(struct work *w, const struct row *row)
{
	const struct machine_info *m = w->machine;
	enum level_id level = place_of(w, row);
	uint64_t bytes = level == LEVEL_MEMORY ? ram_large_bytes(m) :
						 levels_inside(&m->levels.of[level]);

	if (w->x)
		return w->x;
	if (!bytes && level == LEVEL_MEMORY)
		work_fail(w, 0, "too little free memory for a working set that no cache holds");
	else if (!bytes)
		work_fail(w, 0, "latency by working set shows no level %d of the cache%s%s", level + 1,
			  *m->levels_why ? ": " : "", m->levels_why);
	return bytes / PAGE * PAGE;
}

static int make_chain(struct work *w, const struct row *row)
{
	uint64_t bytes = bytes_of(w, row);

	if (!bytes)
		return -EINVAL;
	if (!w->own)
		w->own = calloc(1, sizeof(struct chain));
	if (!w->own)
		return work_fail(w, ENOMEM, "no memory");
	/* Kept between runs of a process: linking costs more than walking. */
	return chain_make(w, w->own, bytes, row->which == ARRAY ? CHAIN_IN_ORDER :
			  row->which == L2_PAGED ? CHAIN_BY_PAGES : CHAIN_AT_RANDOM);
}

/* What fits the level's own latency, or of main memory what fits that of the last cache. */
static double fast_share(struct chain *c, const struct levels *levels, enum level_id level)
{
	double limit_ns = NAN;

	if (level < LEVEL_MEMORY)
		return chain_fast_share(c, levels_limit_ns(levels, level));
	while (level-- && isnan(limit_ns))
		limit_ns = levels_limit_ns(levels, level);
	return chain_fast_share(c, limit_ns);
}

static int time_latency(struct work *w, const struct row *row, uint64_t calls)
{
	const struct line *from;
	struct chain *c;
	double ran_ns;
	int err;

	task_pin(0);
	err = make_chain(w, row);
	if (err)
		return err;
	c = w->own;
	from = c->at;
	ran_ns = w->x ? clock_ran_ns() : 0;
	region_begin(w);
	chain_walk(c, calls);
	region_end(w);
	region_per_call(w, row, calls);
	/* Of a point of the curve, CPU time: levels have to be found on a busy machine, too. */
	if (w->x)
		w->value = (clock_ran_ns() - ran_ns) / calls;
	if (!w->counting)
		return 0;
	w->witness[WITNESS_TURNS] = chain_loads_since(c, from, calls);
	w->witness[WITNESS_ORDERLY] = chain_orderly_share(c);
	w->witness[WITNESS_SLOPE] = slope_of(chain_walk, c);
	w->witness[WITNESS_FAST] = fast_share(c, &w->machine->levels, level_of[row->which]);
	w->witness[WITNESS_BYTES] = ram_huge_bytes(c->lines);
	snprintf(w->how, sizeof(w->how), "working set of %llu KiB, %.0f KiB of it in huge pages",
		 (unsigned long long)c->bytes >> 10, w->witness[WITNESS_BYTES] / 1024);
	return 0;
}

static void undo_latency(struct work *w)
{
	if (w->own)
		chain_free(w->own);
	free(w->own);
	w->own = NULL;
}

static uint64_t size_up_to(uint64_t most, int i)
{
	int octave = i < FINE_POINTS ? i / 2 : i - FINE_POINTS / 2;
	uint64_t bytes = (uint64_t)SMALLEST << octave;

	if (i < FINE_POINTS && i % 2)
		bytes += bytes / 2;
	return bytes <= most ? bytes : 0;
}

static uint64_t sizes(const struct work *w, int i)
{
	return size_up_to(ram_curve_bytes(w->machine), i);
}

static uint64_t array_sizes(const struct work *w, int i)
{
	return size_up_to(ram_large_bytes(w->machine), i);
}

#define AT_RANDOM                                                                           \
	{ AT_MOST, WITNESS(WITNESS_ORDERLY), 0, 0.02, 0, "no prefetcher foresees the order" }
#define IN_ORDER                                                                            \
	{ EXACTLY, WITNESS(WITNESS_ORDERLY), 0, 1, 0, "each load is of the next line" }

/* Working sets beyond the level, or within a cache, would show few such stretches, or many. */
#define IN_LEVEL                                                                            \
	{ AT_LEAST, WITNESS(WITNESS_FAST), 0, 0.75, 0, "the level holds the working set" }
#define IN_NO_CACHE                                                                         \
	{ AT_MOST, WITNESS(WITNESS_FAST), 0, 0.25, 0, "no cache holds the working set" }

#define LOADS(id, text, number, is_extra)                                                  \
	.name = id, .title = text, .unit = "ns", .which = number, .extra = is_extra,        \
	.calls = 1000000, .quick_calls = 100000, .counted_calls = 100003
#define WAITING                                                                             \
	ALL_IN_USER_MODE,                                                                   \
	TWICE_THE_TIME("twice the loads take twice as long: each waits for the last"),      \
	{ EXACTLY, WITNESS(WITNESS_TURNS), 1, 0, 0, "the cycle is walked so far" }
#define ROW(id, text, number, is_extra)                                                     \
	{ LOADS(id, text, number, is_extra), .invariants = { WAITING, AT_RANDOM, IN_LEVEL } }

static const struct row rows[] = {
	ROW("latency-l1", "load from the L1 cache", L1, false),
	ROW("latency-l2", "load from the L2 cache", L2, false),
	ROW("latency-l2-paged", "load from the L2 cache, another page each time", L2_PAGED, true),
	ROW("latency-l3", "load from the L3 cache", L3, false),
	{ LOADS("latency-memory", "load from main memory", MAIN, false), .point = sizes,
	  .x_unit = "bytes", .shows_levels = true,
	  .invariants = { WAITING, AT_RANDOM, IN_NO_CACHE } },
	{ LOADS("latency-array", "load of the next line of an array: prefetched", ARRAY, true),
	  .point = array_sizes, .x_unit = "bytes", .invariants = { WAITING, IN_ORDER } },
};

const struct family family_latency = {
	.name = "latency", .needs_levels = true, .rows = rows,
	.count = sizeof(rows) / sizeof(*rows), .time = time_latency, .undo = undo_latency,
};
