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
		assert_null(strstr(m.r.laws[i].name, "TLS"));
	assert_int_equal(m.r.sites[SITE_tls_encrypt].how, HOW_DERIVED);
}

#define SITE_AT(name) (offsetof(struct books, site) + SITE_##name * sizeof(struct tally) + offsetof(struct tally, bytes))
#define COUNT_AT(name) (offsetof(struct books, count) + COUNT_##name * sizeof(unsigned long long))

/* Terms that are 0 in the books above, or the same as others. */
TEST(each_term_of_a_law_moves_its_residual)
{
	static const struct {
		const char *law;
		bool tls, receiver;
		size_t at;
		int moves;
	} terms[] = {
		{ "send", false, false, COUNT_AT(accepted_bytes), 1 },
		{ "send", false, false, SITE_AT(tx_copy), -1 },
		{ "reference", false, false, COUNT_AT(reshaped_referenced_bytes), 1 },
		{ "reference", false, false, COUNT_AT(clean_bytes), 1 },
		{ "reference", false, false, COUNT_AT(dropped_referenced_bytes), 1 },
		{ "reference", false, false, COUNT_AT(tapped_bytes), -1 },
		{ "reference", false, false, COUNT_AT(mixed_bytes), -1 },
		{ "receive", false, true, SITE_AT(rx_splice), -1 },
		{ "receive", false, true, SITE_AT(rx_map), -1 },
		{ "end to end", false, true, COUNT_AT(dropped_bytes), -1 },
		{ "end to end", false, true, COUNT_AT(truncated_bytes), -1 },
		{ "completion", false, false, COUNT_AT(zerocopy_sends), 1 },
		{ "pin", false, false, COUNT_AT(pinned_pages), 1 },
		{ "refusal", false, false, COUNT_AT(refused_optmem), -1 },
		{ "refusal", false, false, COUNT_AT(refused_memlock), -1 },
		{ "witness sent", false, false, COUNT_AT(accepted_bytes), -1 },
		{ "witness received", false, true, COUNT_AT(returned_bytes), -1 },
		{ "witness gathered", false, false, SITE_AT(user_gather), -1 },
		{ "witness zero-copy sends", false, false, COUNT_AT(zerocopy_sends), -1 },
		{ "witness completions", false, false, COUNT_AT(completed_sends), -1 },
		{ "TLS send", true, false, SITE_AT(tls_reference), -1 },
		{ "TLS send", true, false, SITE_AT(tls_splice), -1 },
		{ "TLS records sent", true, false, COUNT_AT(tls_carried_bytes), 1 },
		{ "TLS records received", true, true, COUNT_AT(tls_received_bytes), -1 },
	};

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		struct books *b;
		struct made m;

		made_init(&m);
		if (terms[i].tls)
			made_tls(&m);
		b = terms[i].receiver ? made_rx(&m, 1) : made_tx(&m, 1);
		++*(unsigned long long *)((char *)b + terms[i].at);
		made_judge(&m);
		assert_int_equal(made_law(&m, terms[i].law)->residual, terms[i].moves);
		assert_int_equal(made_law(&m, terms[i].law)->status, LAW_BROKEN);
	}
}

TEST(tcps_numbers_are_tested_in_each_pass)
{
	for (int which = 0; which < 2; which++) {
		struct made m;

		made_init(&m);
		(which ? m.app : m.timed_app)[END_SENDER][1].tcp_accepted_bytes++;
		(which ? m.app : m.timed_app)[END_RECEIVER][1].tcp_returned_bytes--;
		made_judge(&m);
		assert_string_equal(made_laws(&m, LAW_BROKEN), "sequence accepted,sequence returned,");
		assert_int_equal(made_law(&m, "sequence accepted")->residual, 1);
		assert_int_equal(made_law(&m, "sequence returned")->residual, -1);
		assert_non_null(strstr(made_law(&m, "sequence accepted")->why, which ? "counted pass" : "timed pass"));
	}
}

/* Five messages of 36,837 / 6 bytes each, in a pass that accepted as many whole bytes as that is. */
TEST_OF_RECORD(a_message_of_the_counted_pass_that_is_not_whole_balances_with_nothing)
{
	m.timed_app[END_RECEIVER][1].messages--;
	m.timed_app[END_SENDER][1].accepted_bytes -= 6140;
	m.timed_app[END_SENDER][1].tcp_accepted_bytes -= 6140;
	made_judge(&m);
	assert_int_equal(made_law(&m, "passes")->left, 36837 * 5 / 6);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "passes,");
	assert_non_null(strstr(made_law(&m, "passes")->why, "differ within the counted pass"));
}

TEST(what_arrives_wrong_at_either_end_breaks_the_law_of_content)
{
	for (int e = 0; e < END_COUNT; e++) {
		struct made m;

		made_init(&m);
		m.app[e][1].content_errors = 1;
		made_judge(&m);
		assert_string_equal(made_laws(&m, LAW_BROKEN), "content,");
	}
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
	/* Of the other socket nothing was sent again, so that both sums are beyond. */
	m.stacks[1].tally.bytes = made_tx(&m, 1)->site[SITE_late_copy].bytes -= RETRANSMITTED;
	made_tx(&m, 1)->count[COUNT_retrans_referenced_bytes] = 0;
	made_tx(&m, 0)->count[COUNT_clean_bytes] = INT64_MAX;
	made_tx(&m, 0)->count[COUNT_retrans_referenced_bytes] = INT64_MAX;
	made_judge(&m);
	assert_int_equal(made_law(&m, "reference")->left, made_law(&m, "reference")->right);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "reference,");
	assert_non_null(strstr(made_law(&m, "reference")->why, "socket 11"));
	made_init(&m);
	made_rx(&m, 0)->count[COUNT_returned_bytes] = 1ull << 63;
	made_judge(&m);
	assert_int_equal(made_law(&m, "receive")->status, LAW_BROKEN);
	assert_int_equal(made_law(&m, "end to end")->status, LAW_BROKEN);
}
