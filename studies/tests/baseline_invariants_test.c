// SPDX-License-Identifier: GPL-2.0
/* Claims about the judge of benchmarks: what holds, what breaks, and what nobody looked at. */
#include <math.h>
#include <string.h>

#include "studies/baseline/bench/proof.h"
#include "studies/baseline/estimate.h"
#include "studies/baseline/families/families.h"
#include "tests/unit/unit.h"

enum { CALLS = 1009, PLACES = EVENT_COUNT + WITNESS_COUNT };

static const struct invariant one_each[] = {
	{ EXACTLY, EVENT_getuid, 1, 0, 0, "one getuid a call" },
	{ AT_MOST, EVENT_switches, 2, 4, 0.05, "few switches" },
	{ AT_LEAST, WITNESS(WITNESS_BYTES), 64, 0, 0, "every byte arrived" },
};

static enum proof judge(double getuids, double switches, double bytes, char why[200])
{
	struct finding findings[3];
	double counted[PLACES];

	for (int i = 0; i < PLACES; i++)
		counted[i] = NAN;
	counted[EVENT_getuid] = getuids;
	counted[EVENT_switches] = switches;
	counted[WITNESS(WITNESS_BYTES)] = bytes;
	return invariants_judge(one_each, 3, CALLS, counted, findings, why, 200);
}

TEST(what_was_expected_holds)
{
	char why[200];

	assert_int_equal(judge(CALLS, 2 * CALLS, 64 * CALLS, why), PROOF_HELD);
	assert_string_equal(why, "");
	assert_int_equal(judge(CALLS, 0, 65 * CALLS, why), PROOF_HELD);
}

TEST(one_more_or_less_breaks_an_exact_count)
{
	char why[200];

	assert_int_equal(judge(CALLS - 1, 0, 64 * CALLS, why), PROOF_BROKEN);
	assert_int_equal(judge(CALLS + 1, 0, 64 * CALLS, why), PROOF_BROKEN);
	assert_string_equal(why, "one getuid a call: expected exactly 1009 getuid calls in 1009 "
			    "calls, counted 1010");
	assert_int_equal(judge(CALLS, 0, 64 * CALLS - 1, why), PROOF_BROKEN);
}

TEST(slack_ends_where_it_says)
{
	char why[200];
	double most = (2 * CALLS + 4) * 1.05;

	assert_int_equal(judge(CALLS, floor(most), 64 * CALLS, why), PROOF_HELD);
	assert_int_equal(judge(CALLS, ceil(most), 64 * CALLS, why), PROOF_BROKEN);
}

TEST(what_nobody_counted_proves_nothing)
{
	char why[200];

	assert_int_equal(judge(NAN, 0, 64 * CALLS, why), PROOF_MISSING);
	assert_string_equal(why, "nothing counted getuid calls");
	/* But a break beside it is a break. */
	assert_int_equal(judge(NAN, 1e6, 64 * CALLS, why), PROOF_BROKEN);
	assert_non_null(strstr(why, "few switches"));
}

/* A row that no count can break proves nothing. */
TEST(every_row_can_break)
{
	for (const struct family *const *f = families; *f; f++) {
		for (int i = 0; i < (*f)->count; i++) {
			const struct row *row = &(*f)->rows[i];
			struct finding findings[ROW_INVARIANTS];
			double counted[PLACES];
			char why[200];

			for (int place = 0; place < PLACES; place++)
				counted[place] = -1e18;
			if (invariants_judge(row->invariants, ROW_INVARIANTS, row->counted_calls,
					     counted, findings, why, sizeof(why)) != PROOF_BROKEN)
				fail_msg("%s has no invariant that can break", row->name);
		}
	}
}

/* The published summary has 36 rows: ICMP was not among them. */
TEST(the_summary_has_its_36_rows)
{
	int rows = 0;

	for (const struct family *const *f = families; *f; f++)
		for (int i = 0; i < (*f)->count; i++)
			rows += !(*f)->rows[i].extra;
	assert_int_equal(rows, 36);
}

TEST(every_row_is_estimated_before_it_is_measured)
{
	struct machine_info machine = { .core_ghz = 3, .told_ghz = 3 };
	struct protocol protocol = { .rtt_ms = 6, .cache_bytes = 32 << 20 };

	for (const struct family *const *f = families; *f; f++) {
		for (int i = 0; i < (*f)->count; i++) {
			const char *name = (*f)->rows[i].name;
			struct estimate e = estimate_row(name, &machine, &protocol);

			if (!(e.hardware + e.software > 0))
				fail_msg("%s has no estimate", name);
		}
	}
}

TEST(without_the_cores_clock_there_is_no_estimate_in_cycles)
{
	struct machine_info machine = { .tsc_ghz = 2, .told_ghz = 2 };
	struct protocol protocol = { .rtt_ms = 6 };

	assert_true(isnan(estimate_row("call-0", &machine, &protocol).hardware));
	assert_true(estimate_row("core-clock", &machine, &protocol).hardware == 2);
}

TEST(every_counter_and_witness_has_a_name_of_its_own)
{
	for (int i = 0; i < PLACES; i++) {
		struct invariant one = { .event = i };

		assert_non_null(invariant_counter(&one));
		for (int j = 0; j < i; j++) {
			struct invariant other = { .event = j };

			assert_string_not_equal(invariant_counter(&one), invariant_counter(&other));
		}
	}
}
