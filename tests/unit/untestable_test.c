// SPDX-License-Identifier: GPL-2.0
/* Claims about the laws that a run may not judge, and the reasons that it gives. */
#include "tests/unit/expected_laws.h"
#include "tests/unit/record_fixture.h"

static const char *const hooks[] = { "accepted", "returned", "tx_copy", "tx_reference", "late_copy",
				     "completions", "refusals", "reshape", "rx_copy",
				     "user_gather", "drops" };

TEST(a_law_without_its_hook_is_not_testable_and_says_why)
{
	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++) {
		struct made m;

		made_init(&m);
		made_detach(&m, hooks[i]);
		made_judge(&m);
		assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), laws_that_need(hooks[i]));
		assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 0);
		for (int l = 0; l < m.r.law_count; l++)
			if (m.r.laws[l].status == LAW_NOT_TESTABLE)
				assert_true(*m.r.laws[l].why && !m.r.laws[l].known);
	}
}

TEST(a_derived_copy_is_never_called_balanced)
{
	static const enum backend backends[] = { BACKEND_TRAMPOLINE, BACKEND_TRACEPOINT };

	for (int i = 0; i < 2; i++) {
		struct made m;

		made_init(&m);
		m.r.backend = backends[i];
		made_detach(&m, "tx_copy");
		/* What remains is right whatever it is. */
		made_tx(&m, 0)->site[SITE_tx_copy].bytes = 12345;
		made_judge(&m);
		assert_int_equal(m.r.sites[SITE_tx_copy].how, HOW_DERIVED);
		assert_int_equal(made_law(&m, "send")->status, LAW_NOT_TESTABLE);
		assert_non_null(strstr(made_law(&m, "send")->why, "true by construction"));
	}
}

TEST_OF_RECORD(packets_kept_from_the_probes_leave_their_laws_untested)
{
	made_probe(&m, "tx_copy")->missed_hits = 1;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), laws_with(NEEDS_PACKETS, 0));
	assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 0);

	m.r.derived.gauges.lost_updates = 1;
	laws_fill(&m.r);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "probes,");
}

/* What a device on a bus reads, and what a device that cannot gather has the kernel copy, need a hook each. */
TEST_OF_RECORD(a_path_decides_what_the_reference_law_needs)
{
	made_detach(&m, "clean");
	made_judge(&m);
	assert_int_equal(made_law(&m, "reference")->status, LAW_BALANCED);
	m.r.experiment->path.hardware_dma = true;
	laws_fill(&m.r);
	assert_int_equal(made_law(&m, "reference")->status, LAW_NOT_TESTABLE);
	made_init(&m);
	m.r.backend = BACKEND_TRACEPOINT;
	made_detach(&m, "reshape");
	made_judge(&m);
	assert_int_equal(made_law(&m, "reference")->status, LAW_BALANCED);
	m.r.experiment->path.scatter_gather = false;
	laws_fill(&m.r);
	assert_int_equal(made_law(&m, "reference")->status, LAW_NOT_TESTABLE);
}

TEST_OF_RECORD(a_kernel_without_trampolines_tests_neither_completions_nor_pins)
{
	m.r.backend = BACKEND_TRACEPOINT;
	made_detach(&m, "completions");
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), laws_with(NEEDS_TRAMPOLINE, 0));
	assert_non_null(strstr(made_law(&m, "completion")->why, "trampoline backend"));
	assert_non_null(strstr(made_law(&m, "pin")->why, "trampoline backend"));
	/* The sends are then what completions are held against. */
	m.app[END_SENDER][0].completions = m.r.experiment->app[END_SENDER].sum.completions -= 1;
	laws_fill(&m.r);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "witness completions,");
}

TEST(without_totals_no_witness_is_heard)
{
	for (int e = 0; e < END_COUNT; e++) {
		struct made m;

		made_init(&m);
		m.r.experiment->app[e].known = false;
		made_judge(&m);
		assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), laws_with(NEEDS_TOTALS, 0));
	}
}

TEST_OF_RECORD(completions_that_nobody_reads_are_no_witness)
{
	m.r.experiment->app[END_SENDER].completions_read = false;
	m.app[END_SENDER][0].completions = m.app[END_SENDER][1].completions = 0;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "witness completions,");
	assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 0);
}

TEST(unchecked_content_is_not_judged)
{
	for (int readers = 0; readers <= 2; readers += 2) {
		struct made m;

		made_init(&m);
		m.r.experiment->plan.unchecked = !readers;
		m.r.experiment->plan.readers = readers;
		m.r.experiment->app[END_RECEIVER].content_unchecked = true;
		made_judge(&m);
		assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "content,");
		assert_non_null(strstr(made_law(&m, "content")->why,
				       readers ? "share a socket" : "use --verify"));
	}
}

TEST_OF_RECORD(without_probes_only_content_and_sequence_numbers_are_judged)
{
	m.r.backend = BACKEND_NONE;
	m.r.probe_count = 0;
	strcpy(m.r.backend_why, "made without probes");
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BALANCED), laws_with(NEEDS_NO_PROBE, 0));
	assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 0);
}
