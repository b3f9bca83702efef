// SPDX-License-Identifier: GPL-2.0
/* Claims about the sum of a row: runs of two modes give no number, unless others took the CPU. */
#include <string.h>

#include "studies/baseline/measure.h"
#include "tests/unit/unit.h"

enum { RUNS = 6 };

static const double two_modes[RUNS] = { 122, 195, 121, 194, 196, 123 };
static const double one_mode[RUNS] = { 122, 123, 121, 125, 130, 123 };
static const struct row strict = { .name = "strict", .unit = "ns", .one_mode = true };
static const struct row lenient = { .name = "lenient", .unit = "ns" };

static struct outcome summed(const struct row *row, const double *values, double waited)
{
	struct outcome o = { .row = row, .status = VALID, .runs = RUNS, .rounds = 1, .waited = waited };

	memcpy(o.values, values, RUNS * sizeof(*values));
	measure_sum(&o);
	return o;
}

TEST(runs_of_two_modes_give_no_number_but_both_medians)
{
	struct outcome o = summed(&strict, two_modes, 0.001);

	assert_int_equal(o.status, NOT_MEASURED);
	assert_non_null(strstr(o.why, "122 and 195 ns"));
	assert_int_equal(o.spread.n, 0);
}

TEST(runs_of_one_mode_give_their_median)
{
	struct outcome o = summed(&strict, one_mode, 0.001);

	assert_int_equal(o.status, VALID);
	assert_true(o.spread.median == 123);
}

TEST(a_busy_neighbour_makes_no_mode)
{
	assert_int_equal(summed(&strict, two_modes, 0.3).status, VALID);
}

TEST(other_rows_may_have_modes)
{
	assert_int_equal(summed(&lenient, two_modes, 0).status, VALID);
}

TEST(what_was_not_timed_stays_as_it_is)
{
	struct outcome o = { .row = &strict, .status = INVALID, .why = "broken" };

	measure_sum(&o);
	assert_int_equal(o.status, INVALID);
	assert_string_equal(o.why, "broken");
}
