// SPDX-License-Identifier: GPL-2.0
/* Claims about the laws: which books balance, and what breaks them. */
#include "tests/unit/expected_laws.h"
#include "tests/unit/record_fixture.h"
#include "userspace/tables/behaviours.h"

TEST_OF_RECORD(books_that_agree_balance_in_every_law)
{
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BALANCED), laws_with(0, 0));
	assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 0);
	for (int i = 0; i < m.r.law_count; i++) {
		assert_true(m.r.laws[i].known);
		assert_int_equal(m.r.laws[i].residual, 0);
		assert_string_equal(m.r.laws[i].why, "");
	}
	assert_int_equal(made_law(&m, "send")->left, made_bytes(0) + made_bytes(1));
	assert_int_equal(made_law(&m, "reference")->left, made_bytes(0) + made_bytes(1) + 200);
}

TEST(one_byte_breaks_its_law_and_no_other)
{
	for (int i = 0; i < EXPECTED_LAWS; i++) {
		for (int n = -1; n <= 1 && expected_laws[i].break_law; n += 2) {
			struct made m;
			char expected[64];

			made_init(&m);
			expected_laws[i].break_law(&m, 1, n);
			made_judge(&m);
			snprintf(expected, sizeof(expected), "%s,", expected_laws[i].law);
			assert_string_equal(made_laws(&m, LAW_BROKEN), expected);
			assert_int_equal(made_law(&m, expected_laws[i].law)->residual, n);
			assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 1);
		}
	}
}

TEST(books_of_kernel_tls_balance_in_plaintext_and_in_records)
{
	struct made m;

	made_init(&m);
	made_tls(&m);
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	assert_string_equal(made_laws(&m, LAW_NOT_TESTABLE), "sequence accepted,sequence returned,");
	assert_int_equal(made_law(&m, "TLS send")->left, made_bytes(0) + made_bytes(1));
	assert_int_equal(made_law(&m, "TLS records sent")->left, made_law(&m, "TLS send")->left + 132);
	assert_int_equal(made_law(&m, "end to end")->left, made_law(&m, "TLS send")->left);
}

TEST(one_byte_breaks_its_law_of_tls_and_no_other)
{
	for (int i = 0; i < EXPECTED_TLS_LAWS; i++) {
		for (int n = -1; n <= 1; n += 2) {
			struct made m;
			char expected[64];

			made_init(&m);
			made_tls(&m);
			expected_tls_laws[i].break_law(&m, 1, n);
			made_judge(&m);
			snprintf(expected, sizeof(expected), "%s,", expected_tls_laws[i].law);
			assert_string_equal(made_laws(&m, LAW_BROKEN), expected);
			assert_int_equal(made_law(&m, expected_tls_laws[i].law)->residual, n);
		}
	}
}

TEST(without_a_hook_no_law_of_tls_is_tested_that_needs_it)
{
	for (int i = 0; i < EXPECTED_TLS_LAWS; i++) {
		char hooks[128], *at = hooks;

		strcpy(hooks, expected_tls_laws[i].hooks);
		for (char *hook; (hook = strsep(&at, ",")) && *hook;) {
			struct made m;

			made_init(&m);
			made_tls(&m);
			made_detach(&m, hook);
			made_judge(&m);
			assert_int_equal(made_law(&m, expected_tls_laws[i].law)->status, LAW_NOT_TESTABLE);
			assert_string_equal(made_laws(&m, LAW_BROKEN), "");
		}
	}
}

TEST(a_run_without_tls_has_no_law_of_it)
{
	struct made m;

	made_init(&m);
	made_judge(&m);
	for (int i = 0; i < m.r.law_count; i++)
		assert_false(law_is_of_tls(m.r.laws[i].name));
	assert_int_equal(m.r.sites[SITE_tls_encrypt].how, HOW_DERIVED);
}

TEST(errors_of_two_sockets_that_cancel_out_are_caught)
{
	for (int i = 0; i < EXPECTED_LAWS; i++) {
		const struct law *law;
		struct made m;

		if (!expected_laws[i].per_socket)
			continue;
		made_init(&m);
		expected_laws[i].break_law(&m, 0, 1);
		expected_laws[i].break_law(&m, 1, -1);
		made_judge(&m);
		law = made_law(&m, expected_laws[i].law);
		assert_int_equal(law->status, LAW_BROKEN);
		assert_int_equal(law->residual, 0);
		assert_non_null(strstr(law->why, "socket "));
	}
}

TEST_OF_RECORD(a_socket_that_the_workload_does_not_know_breaks_the_witness)
{
	m.sockets[2].cookie = 99;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), laws_with(NEEDS_SOCKETS, 0));
	assert_non_null(strstr(made_law(&m, "witness sent")->why, "99 is not one of the workload"));
}

TEST_OF_RECORD(a_lost_update_or_a_skipped_run_breaks_the_probes)
{
	m.r.derived.gauges.lost_updates = 2;
	made_probe(&m, "rx_copy")->missed_runs = 3;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "probes,");
	assert_int_equal(made_law(&m, "probes")->residual, 5);
}

TEST_OF_RECORD(a_skipped_completion_counts_only_if_a_completion_is_lacking)
{
	made_probe(&m, "completions")->missed_runs = 3;
	made_judge(&m);
	assert_int_equal(made_law(&m, "probes")->status, LAW_BALANCED);
	m.r.derived.total.count[COUNT_completed_sends]--;
	laws_fill(&m.r);
	assert_int_equal(made_law(&m, "probes")->residual, 3);
	m.r.derived.total.count[COUNT_completed_sends]++;
	m.r.derived.total.count[COUNT_released_pages]--;
	laws_fill(&m.r);
	assert_int_equal(made_law(&m, "probes")->residual, 3);
}

TEST(wrong_content_is_wanted_of_memory_that_is_given_up_in_flight)
{
	static const struct {
		const char *variant;
		unsigned int behaviours;
		enum law_status status;
	} rows[] = {
		{ "A3-unreaped", BEHAVIOUR_BIT(reuse_at_once), LAW_BALANCED },
		{ "A3-unreaped", BEHAVIOUR_BIT(fresh_message), LAW_BALANCED },
		{ "A3-unreaped", BEHAVIOUR_BIT(fresh_buffer), LAW_BROKEN },
		{ "A3-unset", BEHAVIOUR_BIT(fresh_message), LAW_BROKEN },
		{ "A1", BEHAVIOUR_BIT(fresh_message), LAW_BROKEN },
		{ "A3", BEHAVIOUR_BIT(end_on_enobufs), LAW_BROKEN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct made m;

		made_init(&m);
		strcpy(m.r.experiment->plan.variant, rows[i].variant);
		m.r.experiment->plan.behaviours = rows[i].behaviours;
		m.r.experiment->app[END_RECEIVER].sum.content_errors = 7;
		made_judge(&m);
		assert_int_equal(made_law(&m, "content")->status, rows[i].status);
	}
}

TEST_OF_RECORD(wrong_content_is_wanted_of_a3_reuse_alone)
{
	strcpy(m.r.experiment->plan.variant, "A3-reuse");
	made_judge(&m);
	assert_int_equal(made_law(&m, "content")->status, LAW_NOT_TESTABLE);
	m.r.experiment->app[END_RECEIVER].sum.content_errors = 7;
	laws_fill(&m.r);
	assert_int_equal(made_law(&m, "content")->status, LAW_BALANCED);
	assert_int_equal(made_law(&m, "content")->left, 7);
	strcpy(m.r.experiment->plan.variant, "A3-aligned");
	laws_fill(&m.r);
	assert_int_equal(made_law(&m, "content")->status, LAW_BROKEN);
	assert_int_equal(made_law(&m, "content")->residual, 7);
}

TEST_OF_RECORD(what_was_peeked_was_copied_and_not_returned)
{
	made_rx(&m, 1)->site[SITE_rx_copy].bytes += 600;
	made_rx(&m, 1)->count[COUNT_peeked_bytes] = 600;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	assert_int_equal(made_law(&m, "receive")->left, made_bytes(0) + made_bytes(1) + 600);
	/* One that is not counted breaks the law of receives, and no other. */
	made_init(&m);
	made_rx(&m, 1)->site[SITE_rx_copy].bytes += 600;
	made_rx(&m, 1)->count[COUNT_peeked_bytes] = 599;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "receive,");
	assert_int_equal(made_law(&m, "receive")->residual, -1);
}

TEST_OF_RECORD(sums_that_wrap_alike_do_not_balance)
{
	made_tx(&m, 0)->count[COUNT_clean_bytes] += INT64_MAX;
	made_tx(&m, 0)->count[COUNT_retrans_referenced_bytes] += INT64_MAX;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "reference,");
	assert_non_null(strstr(made_law(&m, "reference")->why, "socket 11"));
	made_init(&m);
	made_rx(&m, 0)->count[COUNT_returned_bytes] = 1ull << 63;
	made_judge(&m);
	assert_int_equal(made_law(&m, "receive")->status, LAW_BROKEN);
	assert_int_equal(made_law(&m, "end to end")->status, LAW_BROKEN);
}
