// SPDX-License-Identifier: GPL-2.0
/* Claims about the laws: which books balance, and what breaks them. */
#include "tests/unit/made_record.h"

/* Each spoils one law of one flow, and no other law, by @n. */
static void spoil_send(struct made *m, int flow, int n)
{
	made_tx(m, flow)->site[SITE_tx_splice].bytes -= n;
}

static void spoil_reference(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_retrans_referenced_bytes] -= n;
}

static void spoil_receive(struct made *m, int flow, int n)
{
	made_rx(m, flow)->site[SITE_rx_discard].bytes -= n;
}

static void spoil_end_to_end(struct made *m, int flow, int n)
{
	made_rx(m, flow)->count[COUNT_returned_bytes] -= n;
	made_rx(m, flow)->site[SITE_rx_copy].bytes -= n;
	m->app[END_RECEIVER][flow].received_bytes -= n;
}

static void spoil_completion(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_completed_sends] -= n;
	m->app[END_SENDER][flow].completions -= n;
}

static void spoil_pin(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_released_pages] -= n;
}

static void spoil_refusal(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_enobufs] += n;
}

static void spoil_late_causes(struct made *m, int flow, int n)
{
	m->stacks[flow].tally.bytes -= n;
}

static void spoil_reshape_causes(struct made *m, int flow, int n)
{
	made_tx(m, flow)->site[SITE_reshape].bytes += n;
}

#define SPOIL_WITNESS(name, end, field)                               \
	static void spoil_##name(struct made *m, int flow, int n)     \
	{                                                             \
		m->app[end][flow].field += n;                         \
	}
SPOIL_WITNESS(sent, END_SENDER, accepted_bytes)
SPOIL_WITNESS(received, END_RECEIVER, received_bytes)
SPOIL_WITNESS(gathered, END_SENDER, gather_bytes)
SPOIL_WITNESS(sends, END_SENDER, zerocopy_sends)
SPOIL_WITNESS(completions, END_SENDER, completions)
SPOIL_WITNESS(content, END_RECEIVER, content_errors)

static const struct {
	const char *law;
	void (*spoil)(struct made *m, int flow, int n);
	bool per_socket;
} spoils[] = {
	{ "send", spoil_send, true },
	{ "reference", spoil_reference, true },
	{ "receive", spoil_receive, true },
	{ "end to end", spoil_end_to_end, false },
	{ "completion", spoil_completion, true },
	{ "pin", spoil_pin, true },
	{ "refusal", spoil_refusal, true },
	{ "causes of late_copy", spoil_late_causes, false },
	{ "causes of reshape", spoil_reshape_causes, false },
	{ "witness sent", spoil_sent, true },
	{ "witness received", spoil_received, true },
	{ "witness gathered", spoil_gathered, true },
	{ "witness zero-copy sends", spoil_sends, true },
	{ "witness completions", spoil_completions, true },
	{ "content", spoil_content, false },
};

enum { SPOILS = sizeof(spoils) / sizeof(*spoils) };

static void books_that_agree_balance_in_every_law(void **state)
{
	struct made m;

	made_init(&m);
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BALANCED), "send,reference,receive,end to end,"
			    "completion,pin,refusal,causes of late_copy,causes of reshape,"
			    WITNESSES "content,probes,");
	assert_int_equal(laws_broken(&m.r), 0);
	for (int i = 0; i < m.r.law_count; i++) {
		assert_true(m.r.laws[i].known);
		assert_int_equal(m.r.laws[i].residual, 0);
		assert_string_equal(m.r.laws[i].why, "");
	}
	assert_int_equal(made_law(&m, "send")->left, made_bytes(0) + made_bytes(1));
	assert_int_equal(made_law(&m, "reference")->left, made_bytes(0) + made_bytes(1) + 200);
}

static void one_byte_breaks_its_law_and_no_other(void **state)
{
	for (int i = 0; i < SPOILS; i++) {
		for (int n = -1; n <= 1; n += 2) {
			struct made m;
			char expected[64];

			made_init(&m);
			spoils[i].spoil(&m, 1, n);
			made_judge(&m);
			snprintf(expected, sizeof(expected), "%s,", spoils[i].law);
			assert_string_equal(made_laws(&m, LAW_BROKEN), expected);
			assert_int_equal(made_law(&m, spoils[i].law)->residual, n);
			assert_int_equal(laws_broken(&m.r), 1);
		}
	}
}

static void errors_of_two_sockets_that_cancel_out_are_caught(void **state)
{
	for (int i = 0; i < SPOILS; i++) {
		const struct law *law;
		struct made m;

		if (!spoils[i].per_socket)
			continue;
		made_init(&m);
		spoils[i].spoil(&m, 0, 1);
		spoils[i].spoil(&m, 1, -1);
		made_judge(&m);
		law = made_law(&m, spoils[i].law);
		assert_int_equal(law->status, LAW_BROKEN);
		assert_int_equal(law->residual, 0);
		assert_non_null(strstr(law->why, "socket "));
	}
}

static void a_socket_that_the_workload_does_not_know_breaks_the_witness(void **state)
{
	struct made m;

	made_init(&m);
	m.sockets[2].cookie = 99;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), WITNESSES);
	assert_non_null(strstr(made_law(&m, "witness sent")->why, "99 is not one of the workload"));
}

static void a_lost_update_or_a_skipped_run_breaks_the_probes(void **state)
{
	struct made m;

	made_init(&m);
	m.r.derived.gauges.lost_updates = 2;
	made_probe(&m, "rx_copy")->missed_runs = 3;
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "probes,");
	assert_int_equal(made_law(&m, "probes")->residual, 5);
}

static void wrong_content_is_wanted_of_a3_reuse_alone(void **state)
{
	struct made m;

	made_init(&m);
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

static void sums_that_wrap_alike_do_not_balance(void **state)
{
	struct made m;

	made_init(&m);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(books_that_agree_balance_in_every_law),
		cmocka_unit_test(one_byte_breaks_its_law_and_no_other),
		cmocka_unit_test(errors_of_two_sockets_that_cancel_out_are_caught),
		cmocka_unit_test(a_socket_that_the_workload_does_not_know_breaks_the_witness),
		cmocka_unit_test(a_lost_update_or_a_skipped_run_breaks_the_probes),
		cmocka_unit_test(wrong_content_is_wanted_of_a3_reuse_alone),
		cmocka_unit_test(sums_that_wrap_alike_do_not_balance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
