// SPDX-License-Identifier: GPL-2.0
/* Claims about who used the CPUs between two readings: made ones, and one of this machine. */
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/common/clock.h"
#include "userspace/common/system/cpu_time.h"

static const struct cpu_time start = { .known = true, .threads_known = true, .all_ns = 1000,
				       .busy_ns = 500, .stolen_ns = 10, .softirq_threads_ns = 7 };

/* 1,000 ns later: 600 busy, 50 stolen, 100 in softirq threads. */
static struct cpu_time later(void)
{
	return (struct cpu_time){ .known = true, .threads_known = true, .all_ns = 2000,
				  .busy_ns = 1100, .stolen_ns = 60, .softirq_threads_ns = 107 };
}

TEST(what_nobody_measured_is_of_others)
{
	struct cpu_time end = later();
	struct cpu_shares shares = cpu_shares_between(&start, &end, 300);

	assert_true(shares.known);
	assert_int_equal(shares.doubt, CPU_NO_DOUBT);
	assert_float_equal(shares.others, 0.2, 1e-6);
	assert_float_equal(shares.stolen, 0.05, 1e-6);
}

TEST(ticks_below_the_exact_clocks_are_nothing_of_others)
{
	struct cpu_time end = later();

	assert_float_equal(cpu_shares_between(&start, &end, 501).others, 0, 1e-6);
}

TEST(hidden_softirq_threads_count_as_others_and_say_so)
{
	struct cpu_time end = later();
	struct cpu_shares shares;

	end.threads_known = false;
	shares = cpu_shares_between(&start, &end, 300);
	assert_true(shares.known);
	assert_float_equal(shares.others, 0.3, 1e-6);
	assert_int_equal(shares.doubt, CPU_HIDDEN_THREADS);
	assert_non_null(strstr(cpu_doubt_text(shares.doubt), "softirq"));
}

TEST(what_cannot_be_read_is_not_known)
{
	struct cpu_time end = later(), unread = {};

	assert_int_equal(cpu_shares_between(&start, &unread, 300).doubt, CPU_NO_STAT);
	assert_int_equal(cpu_shares_between(&unread, &end, 300).doubt, CPU_NO_STAT);
	assert_int_equal(cpu_shares_between(&start, &start, 300).doubt, CPU_NO_TICK);
	for (int doubt = CPU_NO_STAT; doubt < CPU_DOUBTS; doubt++)
		assert_true(strlen(cpu_doubt_text(doubt)));
	assert_false(cpu_shares_between(&start, &start, 300).known);
}

/* This process alone uses a CPU for 0.2 s, and nobody takes it off: so others used at least that. */
TEST(a_busy_process_that_is_not_measured_is_seen)
{
	struct cpu_clocks clocks;
	struct cpu_time from, to;
	struct cpu_shares shares;
	uint64_t began = monotonic_ns();

	cpu_clocks_open(&clocks);
	from = cpu_time_read(&clocks);
	/* A machine that has much else to do may count its ticks late. */
	do {
		to = cpu_time_read(&clocks);
	} while (monotonic_ns() - began < UINT64_C(200000000) ||
		 (to.all_ns <= from.all_ns && monotonic_ns() - began < UINT64_C(10000000000)));
	cpu_clocks_close(&clocks);
	shares = cpu_shares_between(&from, &to, 0);
	assert_true(shares.known);
	/* Half a CPU of that time at least, as a busy machine may stop this process for a while. */
	assert_true(shares.others * (to.all_ns - from.all_ns) > 5e7);
}
