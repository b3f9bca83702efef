// SPDX-License-Identifier: GPL-2.0
/* Claims about the modelled caches: known patterns of access give the numbers that arithmetic gives. */
#include "studies/plugin/hierarchy.h"
#include "tests/unit/unit.h"

enum { KIB = 1024, LINE = 64, WORD = 8, L1_LINES = 512 };

/* 32 KiB and 8 ways, 256 KiB and 4 ways, 8 MiB and 16 ways: 64, 1,024 and 8,192 sets. */
static struct hierarchy_shape usual(void)
{
	return (struct hierarchy_shape){
		.level = { { 32 * KIB, 8 }, { 256 * KIB, 4 }, { 8192 * KIB, 16 } },
		.line_bytes = LINE,
		.processors = 1,
		.llc = LLC_NON_INCLUSIVE,
		.write_allocate = true,
	};
}

struct bench {
	struct hierarchy *h;
	struct access_counts counts;
};

static struct bench begin(struct hierarchy_shape shape)
{
	assert_null(hierarchy_fault(&shape));
	return (struct bench){ .h = hierarchy_create(&shape) };
}

static void reach(struct bench *b, unsigned int processor, uint64_t address, bool store)
{
	hierarchy_access(b->h, processor, address, WORD, store, &b->counts);
}

/* Loads every word of a stretch; returns what it missed at a level. */
static uint64_t walk(struct bench *b, uint64_t bytes, uint64_t stride, enum cache_level level)
{
	uint64_t before = b->counts.misses[level];

	for (uint64_t at = 0; at < bytes; at += stride)
		reach(b, 0, at, false);
	return b->counts.misses[level] - before;
}

TEST(a_walk_of_32_kib_misses_each_line_once)
{
	struct bench b = begin(usual());

	assert_int_equal(walk(&b, 32 * KIB, WORD, CACHE_L1D), L1_LINES);
	for (int again = 0; again < 3; again++)
		assert_int_equal(walk(&b, 32 * KIB, WORD, CACHE_L1D), 0);
	assert_int_equal(b.counts.misses[CACHE_L2], L1_LINES);
	assert_int_equal(b.counts.misses[CACHE_LLC], L1_LINES);
	assert_int_equal(b.counts.loads, 4 * 32 * KIB / WORD);
	assert_int_equal(b.counts.lines, 4 * L1_LINES);
	assert_int_equal(b.counts.load_misses[CACHE_L1D], L1_LINES);
	hierarchy_free(b.h);
}

/* The set with nine lines evicts the one that is next, each time; the other 63 sets are not touched. */
TEST(one_line_more_costs_the_lines_of_its_set_alone)
{
	struct bench b = begin(usual());

	assert_int_equal(walk(&b, 32 * KIB + LINE, WORD, CACHE_L1D), L1_LINES + 1);
	assert_int_equal(walk(&b, 32 * KIB + LINE, WORD, CACHE_L1D), 9);
	assert_int_equal(b.counts.misses[CACHE_L2], L1_LINES + 1);
	hierarchy_free(b.h);
}

TEST(a_stride_over_the_sets_fills_one_set)
{
	struct bench b = begin(usual());

	assert_int_equal(walk(&b, 8 * 4 * KIB, 4 * KIB, CACHE_L1D), 8);
	assert_int_equal(walk(&b, 8 * 4 * KIB, 4 * KIB, CACHE_L1D), 0);
	/* The ninth line evicts the first, which then evicts the second: */
	assert_int_equal(walk(&b, 9 * 4 * KIB, 4 * KIB, CACHE_L1D), 1);
	assert_int_equal(walk(&b, 9 * 4 * KIB, 4 * KIB, CACHE_L1D), 9);
	hierarchy_free(b.h);
}

/* A cycle visits the sixteen lines of each set in one order, for ever: eight ways never help. */
TEST(a_random_cycle_of_twice_the_size_always_misses)
{
	struct bench b = begin(usual());
	uint32_t next[2 * L1_LINES], random = 1;

	for (uint32_t i = 0; i < 2 * L1_LINES; i++)
		next[i] = i;
	for (uint32_t i = 2 * L1_LINES - 1; i; i--) {	/* Sattolo: one cycle */
		uint32_t with, was = next[i];

		random = random * 1103515245 + 12345;
		with = (random >> 8) % i;
		next[i] = next[with];
		next[with] = was;
	}
	for (uint32_t i = 0, at = 0; i < 5 * 2 * L1_LINES; i++, at = next[at])
		reach(&b, 0, at * LINE, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 5 * 2 * L1_LINES);
	assert_int_equal(b.counts.misses[CACHE_L2], 2 * L1_LINES);
	hierarchy_free(b.h);
}

static void copy(struct bench *b, uint64_t from, uint64_t to, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += WORD) {
		reach(b, 0, from + at, false);
		reach(b, 0, to + at, true);
	}
}

TEST(a_copy_of_n_bytes_touches_2n_64_lines)
{
	for (uint64_t bytes = 64; bytes <= 64 * KIB; bytes *= 2) {
		struct bench b = begin(usual());

		copy(&b, 0, 1024 * KIB, bytes);
		assert_int_equal(b.counts.lines, 2 * bytes / LINE);
		assert_int_equal(b.counts.misses[CACHE_L1D], 2 * bytes / LINE);
		assert_int_equal(b.counts.load_misses[CACHE_L1D], bytes / LINE);
		assert_int_equal(b.counts.misses[CACHE_LLC], 2 * bytes / LINE);
		assert_int_equal(b.counts.loads, bytes / WORD);
		assert_int_equal(b.counts.stores, bytes / WORD);
		hierarchy_free(b.h);
	}
}

/* A source that was just written is hot while it and the target fit together: up to half the cache. */
TEST(the_second_copy_loads_hot_lines_up_to_half_the_cache)
{
	for (uint64_t kib = 1; kib <= 64; kib *= 2) {
		struct bench b = begin(usual());
		uint64_t cold;

		copy(&b, 0, 1024 * KIB, kib * KIB);
		cold = b.counts.load_misses[CACHE_L1D];
		copy(&b, 1024 * KIB, 2048 * KIB, kib * KIB);
		assert_int_equal(cold, kib * KIB / LINE);
		assert_int_equal(b.counts.load_misses[CACHE_L1D] - cold,
				 kib <= 16 ? 0 : kib * KIB / LINE);
		hierarchy_free(b.h);
	}
}

TEST(an_access_across_two_lines_misses_both)
{
	struct bench b = begin(usual());

	reach(&b, 0, LINE - 4, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 2);
	assert_int_equal(b.counts.lines, 2);
	assert_int_equal(b.counts.loads, 1);
	reach(&b, 0, LINE, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 2);
	hierarchy_free(b.h);
}

TEST(without_write_allocation_stores_bring_nothing_in)
{
	struct hierarchy_shape shape = usual();
	struct bench b;

	shape.write_allocate = false;
	b = begin(shape);
	reach(&b, 0, 0, true);
	reach(&b, 0, 0, true);
	assert_int_equal(b.counts.misses[CACHE_L1D], 2);
	assert_int_equal(b.counts.misses[CACHE_LLC], 2);
	reach(&b, 0, 0, false);
	reach(&b, 0, 0, true);
	assert_int_equal(b.counts.misses[CACHE_L1D], 3);
	hierarchy_free(b.h);
}

/*
 * Seventeen lines of one set of the last level, the first of which L1d always has: as the last level sees
 * it but once, it is the one that the seventeenth line evicts.
 */
static uint64_t misses_of_a_hot_line(enum llc_kind llc)
{
	struct hierarchy_shape shape = usual();
	struct bench b;
	uint64_t before;

	shape.llc = llc;
	b = begin(shape);
	for (uint64_t i = 0; i <= 16; i++) {
		reach(&b, 0, i * 8192 * LINE, false);
		reach(&b, 0, 0, false);
	}
	before = b.counts.misses[CACHE_L1D];
	assert_int_equal(before, 17 + (llc == LLC_INCLUSIVE));
	reach(&b, 0, 0, false);
	before = b.counts.misses[CACHE_L1D] - before;
	assert_int_equal(before, 0);
	before = b.counts.misses[CACHE_L1D] - 17;
	hierarchy_free(b.h);
	return before;
}

TEST(an_inclusive_last_level_takes_hot_lines_away)
{
	assert_int_equal(misses_of_a_hot_line(LLC_INCLUSIVE), 1);
	assert_int_equal(misses_of_a_hot_line(LLC_NON_INCLUSIVE), 0);
	assert_int_equal(misses_of_a_hot_line(LLC_VICTIM), 0);
}

/* 256 KiB in L2 and the victims of them in the last level: together they hold what neither does. */
TEST(a_victim_cache_adds_its_size_to_that_of_l2)
{
	struct hierarchy_shape shape = usual();
	const uint64_t both = (256 + 512) * KIB;

	shape.level[CACHE_LLC] = (struct level_shape){ 512 * KIB, 8 };
	for (int kind = 0; kind < LLC_KINDS; kind++) {
		struct bench b;

		shape.llc = kind;
		b = begin(shape);
		assert_int_equal(walk(&b, both, WORD, CACHE_LLC), both / LINE);
		assert_int_equal(walk(&b, both, WORD, CACHE_LLC),
				 kind == LLC_VICTIM ? 0 : both / LINE);
		hierarchy_free(b.h);
	}
}

TEST(a_store_takes_the_line_from_other_processors)
{
	struct hierarchy_shape shape = usual();
	struct bench b;

	shape.processors = 2;
	b = begin(shape);
	reach(&b, 0, 0, false);
	reach(&b, 1, 0, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 2);
	assert_int_equal(b.counts.misses[CACHE_LLC], 1);	/* it is shared */
	reach(&b, 0, 0, true);
	reach(&b, 0, 0, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 2);
	reach(&b, 1, 0, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 3);
	assert_int_equal(b.counts.misses[CACHE_L2], 3);
	reach(&b, 1, 0, true);
	reach(&b, 0, 0, false);
	assert_int_equal(b.counts.misses[CACHE_L1D], 4);
	assert_int_equal(b.counts.misses[CACHE_LLC], 1);
	hierarchy_free(b.h);
}

/* 11 ways of 40,960 sets, as 20 slices have: no power of two. */
TEST(sets_need_not_be_a_power_of_two)
{
	struct hierarchy_shape shape = usual();
	const uint64_t bytes = 28160 * KIB;
	struct bench b;

	shape.level[CACHE_LLC] = (struct level_shape){ bytes, 11 };
	b = begin(shape);
	assert_int_equal(walk(&b, bytes, LINE, CACHE_LLC), bytes / LINE);
	assert_int_equal(walk(&b, bytes, LINE, CACHE_LLC), 0);
	hierarchy_free(b.h);
}

TEST(shapes_that_cannot_be_are_refused)
{
	struct hierarchy_shape shape = usual();

	shape.line_bytes = 48;
	assert_non_null(hierarchy_fault(&shape));
	shape = usual();
	shape.processors = 65;
	assert_non_null(hierarchy_fault(&shape));
	shape = usual();
	shape.level[CACHE_L2].ways = 0;
	assert_non_null(hierarchy_fault(&shape));
	shape = usual();
	shape.level[CACHE_L1D].bytes += 64;
	assert_non_null(hierarchy_fault(&shape));
	shape = usual();
	shape.level[CACHE_L2].bytes = 16 * KIB;
	assert_non_null(hierarchy_fault(&shape));
	shape = usual();
	shape.level[CACHE_LLC].bytes = 2ull << 30;
	assert_non_null(hierarchy_fault(&shape));
}
