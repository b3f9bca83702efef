// SPDX-License-Identifier: GPL-2.0
/* Claims about the sums of repeated measurements: known values, and what noise cannot move. */
#include <math.h>

#include "studies/baseline/bench/stats.h"
#include "tests/unit/unit.h"

#define COUNT(values) (sizeof(values) / sizeof(*(values)))

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) < 1e-9))
		fail_msg("found %.12g, expected %.12g", found, expected);
}

TEST(known_values_give_known_sums)
{
	static const double values[] = { 7, 2, 3, 5, 11, 13 };

	assert_near(stats_mean(values, COUNT(values)), 41.0 / 6);
	assert_near(stats_median(values, COUNT(values)), 6);
	assert_near(stats_sd(values, COUNT(values)), sqrt(581.0 / 30));
	assert_near(stats_median(values, 5), 5);
}

TEST(trimmed_mean_loses_a_tenth_at_each_end)
{
	double values[20];

	for (int i = 0; i < 20; i++)
		values[i] = i;
	values[3] = 1e9;
	values[7] = -1e9;
	/* 2 go at each end: -1e9 and 0, 1e9 and 19. */
	assert_near(stats_trimmed_mean(values, 20), (171.0 - 3 - 7) / 16);
	assert_near(stats_trimmed_mean(values, 1), 0);
	/* Of fewer than 10 none goes. */
	assert_near(stats_trimmed_mean((double[]){ 1, 2, 9 }, 3), 4);
}

TEST(neither_a_lucky_value_nor_disturbed_ones_move_the_lower_quartile)
{
	double values[] = { 5, 4, 9, 6, 8, 7, 10, 12, 11 };

	assert_near(stats_lower_quartile(values, COUNT(values)), 6);
	values[1] = 0.001;
	assert_near(stats_lower_quartile(values, COUNT(values)), 6);
	for (size_t i = 2; i < COUNT(values); i++)
		values[i] = values[i] > 6 ? 1e9 : values[i];
	assert_near(stats_lower_quartile(values, COUNT(values)), 6);
	assert_near(stats_lower_quartile((double[]){ 3 }, 1), 3);
	assert_true(isnan(stats_lower_quartile(values, 0)));
}

/* The same table as in any book on the sign test. */
TEST(ranks_of_the_median_are_those_of_the_sign_test)
{
	static const struct {
		size_t n;
		int rank;
	} known[] = { { 1, -1 }, { 5, -1 }, { 6, 0 }, { 8, 0 }, { 9, 1 }, { 10, 1 }, { 12, 2 },
		      { 15, 3 }, { 20, 5 }, { 30, 9 } };

	for (size_t i = 0; i < COUNT(known); i++)
		assert_int_equal(stats_rank_below(known[i].n), known[i].rank);
}

TEST(one_wild_value_of_ten_moves_no_interval)
{
	double values[] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };
	struct spread calm = stats_spread(values, 10), wild;

	values[9] = 1e6;
	wild = stats_spread(values, 10);
	assert_true(calm.holds_95);
	assert_near(wild.low, calm.low);
	assert_near(wild.high, calm.high);
	assert_near(wild.median, calm.median);
	assert_true(wild.mean > 1e4);
}

/* Nanoseconds of getuid in ten runs of one process: the mode changed in the ninth. */
TEST(runs_of_two_modes_are_told_apart)
{
	static const double values[] = { 193.87, 196.66, 193.03, 196.98, 194.52, 194.41, 195.13, 195.1,
					 130.34, 122.43 };
	double low, high;

	assert_true(stats_two_modes(values, COUNT(values), &low, &high));
	assert_near(low, (130.34 + 122.43) / 2);
	assert_near(high, (194.52 + 195.1) / 2);
}

TEST(neither_drift_nor_one_wild_run_is_a_mode)
{
	static const double calm[] = { 122.3, 122.7, 130.3, 122.1, 121.8, 122.0 };
	static const double wild[] = { 9.0, 4.4, 4.3, 4.2, 4.2, 4.2 };
	double drift[10], low, high;

	for (int i = 0; i < 10; i++)
		drift[i] = 100 * pow(1.2, i);
	assert_false(stats_two_modes(calm, COUNT(calm), &low, &high));
	assert_false(stats_two_modes(wild, COUNT(wild), &low, &high));
	assert_false(stats_two_modes(drift, COUNT(drift), &low, &high));
	for (size_t n = 0; n < 4; n++)
		assert_false(stats_two_modes((double[]){ 1, 100, 10000 }, n, &low, &high));
}

TEST(the_least_and_the_trimmed_deviation_know_their_values)
{
	static const double values[] = { 7, 2, 3, 5, 11, 13, 17, 19, 23, 1e9 };

	assert_near(stats_least(values, COUNT(values)), 2);
	assert_true(isnan(stats_least(values, 0)));
	/* Without 2 and 1e9: 3, 5, 7, 11, 13, 17, 19, 23. */
	assert_near(stats_trimmed_sd(values, COUNT(values)), sqrt(351.5 / 7));
}

TEST(few_values_say_that_they_are_a_range)
{
	static const double values[] = { 3, 1, 2 };
	struct spread s = stats_spread(values, 3);

	assert_false(s.holds_95);
	assert_near(s.low, 1);
	assert_near(s.high, 3);
	assert_true(isnan(stats_sd(values, 1)));
}

TEST(drift_between_rounds_is_inside_the_interval)
{
	double values[12];
	struct spread both;

	for (int i = 0; i < 6; i++) {
		values[i] = 10 + i;
		values[6 + i] = 100 + i;
	}
	both = stats_spread_rounds(values, 6, 2);
	assert_near(both.low, 10);
	assert_near(both.high, 105);
	assert_int_equal(both.n, 12);
}
