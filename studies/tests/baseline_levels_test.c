// SPDX-License-Identifier: GPL-2.0
/* Claims about the steps of a latency curve: real and made ones, and curves that show nothing. */
#include <math.h>

#include "studies/baseline/bench/stats.h"
#include "tests/unit/unit.h"

enum { KIB = 1 << 10, MIB = 1 << 20, POINTS = 16 };

#define COUNT(values) (sizeof(values) / sizeof(*(values)))

/* Nanoseconds a load in a guest that is told of an L3 cache of 32 MiB: 4 KiB, 8 KiB, ... 128 MiB. */
static const double measured[POINTS] = { 1.1, 1.1, 1.08, 1.22, 3.85, 3.84, 3.88, 5.61, 9.07, 14.07,
					 17.89, 129.73, 147.07, 152.6, 154.71, 159.2 };
static const uint64_t told[] = { 32 * KIB, MIB, 32 * MIB }, nothing_told[LEVEL_MEMORY] = {};

static struct levels found(const double *ns, int n, const uint64_t *claimed)
{
	uint64_t bytes[POINTS];
	struct levels levels;

	for (int i = 0; i < n; i++)
		bytes[i] = 4ull * KIB << i;
	levels_find(&levels, bytes, ns, n, claimed);
	return levels;
}

static void assert_ends(const struct levels *levels, uint64_t l1, uint64_t l2, uint64_t l3)
{
	assert_int_equal(levels->of[LEVEL_L1].to_bytes, l1);
	assert_int_equal(levels->of[LEVEL_L2].to_bytes, l2);
	assert_int_equal(levels->of[LEVEL_L3].to_bytes, l3);
}

TEST(a_guest_gets_less_of_a_cache_than_it_is_told)
{
	struct levels levels = found(measured, POINTS, told);

	assert_ends(&levels, 32 * KIB, 512 * KIB, 4 * MIB);
	assert_int_equal(levels.of[LEVEL_MEMORY].from_bytes, 8 * MIB);
	assert_int_equal(levels_last_bytes(&levels), 4 * MIB);
	/* Half of what is told would be main memory: 147 ns. */
	assert_int_equal(levels_inside(&levels.of[LEVEL_L3]), 2 * MIB);
}

TEST(sizes_that_nobody_tells_are_found_too)
{
	struct levels levels = found(measured, POINTS, nothing_told);

	assert_ends(&levels, 32 * KIB, 512 * KIB, 4 * MIB);
	assert_true(levels.of[LEVEL_MEMORY].ns > 100);
}

TEST(a_limit_lies_between_a_level_and_the_next)
{
	struct levels levels = found(measured, POINTS, told);

	for (int i = 0; i < LEVEL_MEMORY; i++) {
		assert_true(levels_limit_ns(&levels, i) > levels.of[i].ns);
		assert_true(levels_limit_ns(&levels, i) < levels.of[i + 1].ns);
	}
	/* Both working sets that were ever taken for the L3 cache's: one lies in it. */
	assert_true(14.07 < levels_limit_ns(&levels, LEVEL_L3));
	assert_true(147.07 > levels_limit_ns(&levels, LEVEL_L3));
	assert_true(isnan(levels_limit_ns(&levels, LEVEL_MEMORY)));
}

TEST(a_level_that_is_not_there_gets_no_number)
{
	static const double without_l3[] = { 1, 1, 1, 1, 4, 4, 4, 4, 90, 95, 99, 99, 99, 99, 99, 99 };
	struct levels levels = found(without_l3, POINTS, told);

	assert_ends(&levels, 32 * KIB, 512 * KIB, 0);
	assert_true(isnan(levels_limit_ns(&levels, LEVEL_L3)));
	assert_true(levels.of[LEVEL_MEMORY].ns > 90);
	assert_int_equal(levels_last_bytes(&levels), 512 * KIB);
}

TEST(a_step_is_the_level_whose_size_it_can_have)
{
	static const double without_l2[] = { 1, 1, 1, 1, 15, 15, 15, 15, 15, 15, 15, 15, 99, 99, 99, 99 };
	struct levels levels = found(without_l2, POINTS, told);

	assert_ends(&levels, 32 * KIB, 0, 8 * MIB);
}

TEST(a_curve_that_ends_too_early_shows_no_main_memory)
{
	struct levels levels = found(measured, 11, told);

	assert_ends(&levels, 32 * KIB, 512 * KIB, 0);
	assert_true(levels.of[LEVEL_MEMORY].ns == 0);
}

TEST(a_flat_or_a_short_curve_shows_nothing)
{
	static const double flat[] = { 50, 51, 49, 50, 52, 50, 49, 50, 51, 53, 50, 49, 48, 52, 51, 50 };
	struct levels levels = found(flat, POINTS, told);

	assert_int_equal(levels_last_bytes(&levels), 0);
	assert_true(isnan(levels_limit_ns(&levels, LEVEL_L1)));
	for (int n = 0; n < 4; n++) {
		levels = found(measured, n, told);
		assert_int_equal(levels_last_bytes(&levels), 0);
	}
}

TEST(one_disturbed_point_is_no_level)
{
	double ns[POINTS];
	struct levels levels;

	for (size_t i = 0; i < COUNT(measured); i++)
		ns[i] = measured[i] * (i == 6 ? 2 : 1);
	levels = found(ns, POINTS, told);
	assert_ends(&levels, 32 * KIB, 512 * KIB, 4 * MIB);
}
