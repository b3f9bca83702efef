// SPDX-License-Identifier: GPL-2.0
/* Claims about sites and the verdict: how each number is known, and what the run comes to. */
#include "tests/unit/record_fixture.h"
#include "userspace/judge/counts.h"
#include "userspace/judge/verdict.h"

static struct verdict verdict_of(const struct made *m)
{
	struct verdict v;

	verdict_fill(&m->r, &v);
	return v;
}

/* As the tracepoint backend leaves a record: nothing fires at reference or completion. */
static void made_by_tracepoints(struct made *m)
{
	made_init(m);
	m->r.backend = BACKEND_TRACEPOINT;
	made_detach(m, "completions");
	for (int flow = 0; flow < FLOWS; flow++) {
		struct books *tx = made_tx(m, flow);

		tx->site[SITE_tx_reference] = tx->site[SITE_tx_copy] = (struct tally){};
		tx->count[COUNT_pinned_pages] = tx->count[COUNT_released_pages] = 0;
		tx->count[COUNT_completed_sends] = 0;
	}
}

static void derive_and_judge(struct made *m)
{
	made_judge(m);
	made_derive(m);
}

TEST_OF_RECORD(trampolines_measure_all_but_the_copy)
{
	made_judge(&m);
	for (int s = 0; s < SITE_COUNT; s++) {
		/* Without a socket that has TLS its sites are 0. */
		bool derived = s == SITE_tx_copy || site_has(s, SITE_OF_TLS);

		assert_int_equal(m.r.sites[s].how, derived ? HOW_DERIVED : HOW_MEASURED);
		assert_int_equal(!*m.r.sites[s].why, !derived);
	}
	assert_int_equal(m.r.pins.how, HOW_MEASURED);
	assert_int_equal(m.r.pins.released_how, HOW_MEASURED);
}

TEST_OF_RECORD(the_copy_is_what_left_in_kernel_memory_less_what_left_twice)
{
	struct books *tx;

	tx = made_tx(&m, 0);
	tx->count[COUNT_wire_copied_bytes] = 1100;
	tx->count[COUNT_retrans_copied_bytes] = 90;
	tx->site[SITE_tx_splice].bytes = 10;
	derive_and_judge(&m);
	assert_int_equal(made_derived_tx(&m, 0)->site[SITE_tx_copy].bytes, 1000);
	assert_int_equal(m.r.sites[SITE_tx_copy].tally.bytes, 1000);
	/* 1,010 bytes more than the call accepted: the derivation is not bound to agree. */
	assert_int_equal(made_law(&m, "send")->residual, -1010);
}

TEST(tracepoints_tell_references_by_the_packets_that_left)
{
	made_by_tracepoints(&m);
	derive_and_judge(&m);
	for (int flow = 0; flow < FLOWS; flow++) {
		assert_int_equal(made_derived_tx(&m, flow)->site[SITE_tx_reference].bytes,
				 made_bytes(flow));
		assert_int_equal(made_derived_tx(&m, flow)->site[SITE_tx_copy].bytes, 0);
	}
	assert_int_equal(m.r.sites[SITE_tx_reference].how, HOW_DERIVED);
	assert_int_equal(m.r.sites[SITE_late_copy].how, HOW_DERIVED);
	assert_int_equal(m.r.pins.pages, FLOWS * PAGES);
	assert_int_equal(m.r.pins.released_how, HOW_NOT_MEASURED);
	assert_true(*m.r.pins.why);
	assert_int_equal(laws_broken(m.r.laws, m.r.law_count), 0);
	assert_int_equal(made_law(&m, "send")->status, LAW_BALANCED);
}

TEST(one_byte_amiss_in_a_packet_breaks_the_send_law)
{
	made_by_tracepoints(&m);
	made_tx(&m, 1)->count[COUNT_wire_referenced_bytes]--;
	derive_and_judge(&m);
	assert_int_equal(made_law(&m, "send")->status, LAW_BROKEN);
	assert_int_equal(made_law(&m, "send")->residual, 1);
}

TEST(packets_that_were_not_seen_leave_the_calls_to_tell)
{
	made_by_tracepoints(&m);
	made_probe(&m, "tx_copy")->missed_hits = 2;
	made_tx(&m, 0)->count[COUNT_wire_referenced_bytes] -= 1448;
	derive_and_judge(&m);
	assert_int_equal(made_derived_tx(&m, 0)->site[SITE_tx_reference].bytes, made_bytes(0));
	assert_int_equal(m.r.sites[SITE_tx_copy].tally.bytes, 0);
	assert_int_equal(made_law(&m, "send")->status, LAW_NOT_TESTABLE);
	assert_int_equal(m.r.pins.how, HOW_NOT_MEASURED);
}

TEST(pages_that_the_reader_found_were_not_copied_late)
{
	made_by_tracepoints(&m);
	made_rx(&m, 0)->count[COUNT_user_referenced_bytes] = made_bytes(0) + RETRANSMITTED;
	derive_and_judge(&m);
	assert_int_equal(m.r.sites[SITE_late_copy].tally.bytes, made_bytes(1) + RETRANSMITTED);
	assert_int_equal(made_law(&m, "reference")->status, LAW_BROKEN);
}

/* Of flow 0 a thousand bytes were not copied, and no call of recv returned them. */
static void made_with_pages(struct made *m)
{
	made_by_tracepoints(m);
	strcpy(m->r.experiment->plan.receiver, "splice");
	made_rx(m, 0)->count[COUNT_returned_bytes] -= 1000;
	made_rx(m, 0)->site[SITE_rx_copy].bytes -= 1000;
}

TEST(pages_that_left_are_the_rest_of_tcps_numbers)
{
	made_with_pages(&m);
	made_rx(&m, 1)->site[SITE_rx_copy].bytes += 600;
	made_rx(&m, 1)->count[COUNT_peeked_bytes] = 600;
	derive_and_judge(&m);
	assert_int_equal(m.r.sites[SITE_rx_splice].how, HOW_DERIVED);
	assert_int_equal(m.r.sites[SITE_rx_splice].tally.bytes, 1000);
	assert_int_equal(made_law(&m, "receive")->status, LAW_NOT_TESTABLE);
	assert_int_equal(made_law(&m, "end to end")->status, LAW_BALANCED);
	assert_int_equal(made_law(&m, "witness received")->status, LAW_BALANCED);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	/* A copy that was not counted is told by the program's own account. */
	made_with_pages(&m);
	made_rx(&m, 1)->site[SITE_rx_copy].bytes--;
	derive_and_judge(&m);
	assert_int_equal(m.r.sites[SITE_rx_splice].tally.bytes, 1001);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "end to end,witness received,");
}

TEST(pages_are_not_known_without_tcps_numbers_of_both_ends)
{
	for (int end = 0; end < END_COUNT; end++) {
		made_with_pages(&m);
		made_judge(&m);
		m.r.experiment->app[end].known = false;
		made_derive(&m);
		assert_int_equal(m.r.sites[SITE_rx_splice].how, HOW_NOT_MEASURED);
		assert_non_null(strstr(m.r.sites[SITE_rx_splice].why, "sequence numbers"));
		assert_int_equal(made_law(&m, "receive")->status, LAW_NOT_TESTABLE);
		assert_int_equal(made_law(&m, "end to end")->status, LAW_NOT_TESTABLE);
	}
}

TEST(what_was_read_stays_as_it_was)
{
	struct ledger read;

	made_by_tracepoints(&m);
	derive_and_judge(&m);
	read = m.r.ledger;
	assert_int_equal(read.total.site[SITE_tx_reference].bytes, 0);
	assert_int_equal(made_tx(&m, 0)->site[SITE_tx_reference].bytes, 0);
	assert_int_equal(m.r.derived.total.site[SITE_tx_reference].bytes, made_bytes(0) + made_bytes(1));
	/* Twice gives the same. */
	m.r.derived = (struct ledger){};
	assert_int_equal(ledger_derive(&m.r), 0);
	assert_memory_equal(m.r.derived.sockets, m.derived, sizeof(m.derived));
	assert_memory_equal(&m.r.ledger, &read, sizeof(read));
	ledger_free(&m.r.derived);
}

/* A number that nobody counted is none, and never 0. */
TEST_OF_RECORD(a_count_is_known_where_the_hook_that_feeds_it_was)
{
	static const enum count of_trampolines[] = { COUNT_completed_sends, COUNT_released_pages, COUNT_tapped_bytes };

	made_judge(&m);
	for (enum count c = 0; c < COUNT_COUNT; c++)
		assert_int_equal(!count_lacks(&m.r, c), c != COUNT_user_referenced_bytes);
	made_detach(&m, "drops");
	assert_string_equal(count_lacks(&m.r, COUNT_dropped_referenced_bytes), "refused: drops");
	assert_null(count_lacks(&m.r, COUNT_dropped_bytes));
	strcpy(m.r.experiment->plan.variant, "udp");
	assert_string_equal(count_lacks(&m.r, COUNT_dropped_bytes), "refused: drops");
	m.r.experiment->path.hardware_dma = true;
	made_detach(&m, "clean");
	assert_string_equal(count_lacks(&m.r, COUNT_clean_bytes), "refused: clean");
	made_by_tracepoints(&m);
	derive_and_judge(&m);
	for (size_t i = 0; i < sizeof(of_trampolines) / sizeof(*of_trampolines); i++)
		assert_non_null(count_lacks(&m.r, of_trampolines[i]));
	assert_null(count_lacks(&m.r, COUNT_user_referenced_bytes));
	made_probe(&m, "tx_copy")->missed_hits = 1;
	assert_non_null(count_lacks(&m.r, COUNT_wire_copied_bytes));
	m.r.backend = BACKEND_NONE;
	assert_int_equal(counts_known(&m.r), 0);
}

/* A site whose books no hook opens counted nothing, whatever its own hook saw. */
TEST_OF_RECORD(a_site_is_not_measured_when_nothing_opens_its_books)
{
	static const enum site sent[] = { SITE_tx_copy, SITE_tx_reference, SITE_tx_splice,
					  SITE_late_copy, SITE_reshape };
	static const enum site read[] = { SITE_rx_copy, SITE_rx_map, SITE_rx_splice,
					  SITE_rx_discard };

	made_detach(&m, "accepted");
	made_judge(&m);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(m.r.sites[sent[i]].how, HOW_NOT_MEASURED);
		assert_string_equal(m.r.sites[sent[i]].why, "refused: accepted");
	}
	made_init(&m);
	made_detach(&m, "returned");
	made_judge(&m);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(m.r.sites[read[i]].how, HOW_NOT_MEASURED);
		assert_string_equal(m.r.sites[read[i]].why, "refused: returned");
	}
}

TEST_OF_RECORD(the_verdict_counts_what_was_sent_without_a_copy)
{
	made_tx(&m, 0)->site[SITE_late_copy].bytes = m.stacks[0].tally.bytes = 0;
	made_tx(&m, 0)->count[COUNT_copied_sends] = 0;
	made_tx(&m, 1)->site[SITE_late_copy].bytes = m.stacks[1].tally.bytes = 837;
	made_judge(&m);
	assert_int_equal(verdict_of(&m).uncopied_bytes, 36000);
	assert_int_equal(verdict_of(&m).referenced_bytes, 36837);
	assert_int_equal(verdict_of(&m).laws_broken, 1);
	made_rx(&m, 0)->site[SITE_rx_copy].bytes++;
	memset(&m.r.derived.total, 0, sizeof(m.r.derived.total));
	made_judge(&m);
	assert_true(verdict_of(&m).laws_broken > 1);
}

/* As with a capture on the way out, whose copies no tracepoint sees: all arrive and none is local. */
TEST(arrivals_without_a_copy_are_no_proof_where_completions_say_copied)
{
	for (int copied = 0; copied < 2; copied++) {
		made_by_tracepoints(&m);
		for (int flow = 0; flow < FLOWS; flow++) {
			made_tx(&m, flow)->site[SITE_late_copy] = (struct tally){};
			made_rx(&m, flow)->count[COUNT_user_referenced_bytes] = 0;
			m.app[END_SENDER][flow].completions_copied *= copied;
		}
		m.experiment.path.tap[TAP_TX] = true;
		derive_and_judge(&m);
		assert_int_equal(verdict_of(&m).uncopied_known, !copied);
		assert_int_equal(verdict_of(&m).uncopied_bytes, copied ? 0 : verdict_of(&m).referenced_bytes);
		assert_int_equal(m.r.sites[SITE_late_copy].how, copied ? HOW_NOT_MEASURED : HOW_DERIVED);
		assert_int_equal(made_law(&m, "copied")->status, copied ? LAW_NOT_TESTABLE : LAW_BALANCED);
	}
}

/* Where late copies are counted as they are made, COPIED and no copy cannot both be. */
TEST_OF_RECORD(completions_that_say_copied_of_nothing_break_a_law)
{
	for (int flow = 0; flow < FLOWS; flow++) {
		made_tx(&m, flow)->site[SITE_late_copy].bytes = m.stacks[flow].tally.bytes = 0;
		made_tx(&m, flow)->count[COUNT_clean_bytes] = made_bytes(flow) + RETRANSMITTED;
	}
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "copied,");
	made_tx(&m, 0)->count[COUNT_reshaped_referenced_bytes] = made_tx(&m, 1)->count[COUNT_reshaped_referenced_bytes] = 1;
	memset(&m.r.derived.total, 0, sizeof(m.r.derived.total));
	made_judge(&m);
	assert_int_equal(made_law(&m, "copied")->status, LAW_BALANCED);
}

/* A send on a route without scatter-gather marks the notification that it joins, even if it moves nothing. */
TEST_OF_RECORD(a_send_without_scatter_gather_may_say_copied_of_those_before)
{
	for (int flow = 0; flow < FLOWS; flow++) {
		made_tx(&m, flow)->site[SITE_late_copy].bytes = m.stacks[flow].tally.bytes = 0;
		made_tx(&m, flow)->count[COUNT_clean_bytes] = made_bytes(flow) + RETRANSMITTED;
		m.r.derived.sockets[flow].unscattered_sends = 1;
	}
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	assert_int_equal(made_law(&m, "copied")->status, LAW_NOT_TESTABLE);
}

/* io_uring says COPIED of sends, too, whose packet holds the notification of another. */
TEST_OF_RECORD(what_io_uring_says_of_copies_is_no_proof_of_one)
{
	strcpy(m.experiment.plan.variant, "uring-zc");
	made_attach(&m, "rings");
	for (int flow = 0; flow < FLOWS; flow++) {
		made_tx(&m, flow)->site[SITE_late_copy].bytes = m.stacks[flow].tally.bytes = 0;
		made_tx(&m, flow)->count[COUNT_clean_bytes] = made_bytes(flow) + RETRANSMITTED;
	}
	made_judge(&m);
	assert_string_equal(made_laws(&m, LAW_BROKEN), "");
	assert_int_equal(made_law(&m, "copied")->status, LAW_NOT_TESTABLE);
}

TEST(no_verdict_is_given_on_what_was_not_measured)
{
	static const char *const needed[] = { "accepted", "tx_reference", "rx_copy" };

	for (int i = 0; i < 3; i++) {
		made_init(&m);
		made_detach(&m, needed[i]);
		made_judge(&m);
		assert_false(verdict_of(&m).referenced_known || verdict_of(&m).copies_known);
	}
	made_init(&m);
	made_detach(&m, "late_copy");
	made_judge(&m);
	assert_true(verdict_of(&m).referenced_known && !verdict_of(&m).uncopied_known);
	made_init(&m);
	m.r.backend = BACKEND_NONE;
	made_judge(&m);
	assert_false(verdict_of(&m).referenced_known || verdict_of(&m).copies_known);
}

TEST(a_verdict_has_the_numbers_that_are_known)
{
	struct verdict v;

	made_by_tracepoints(&m);
	derive_and_judge(&m);
	verdict_fill(&m.r, &v);
	assert_true(v.passed && v.referenced_known && v.uncopied_known && !v.copies_known);
	assert_int_equal(v.referenced_bytes, 36837);
	assert_int_equal(v.uncopied_bytes, 0);
	assert_string_equal(v.chief_cause, "local delivery");
	/* The same without a reference: then it is copies that are told. */
	made_init(&m);
	for (int flow = 0; flow < FLOWS; flow++) {
		made_tx(&m, flow)->site[SITE_tx_reference] = (struct tally){};
		made_tx(&m, flow)->site[SITE_late_copy] = (struct tally){};
		made_tx(&m, flow)->site[SITE_tx_copy] = (struct tally){ made_bytes(flow), 1 };
	}
	made_judge(&m);
	verdict_fill(&m.r, &v);
	assert_true(v.copies_known && !v.referenced_known && !v.chief_cause);
	assert_true(v.copies_per_byte == 2);
	assert_int_equal(v.passed, !v.laws_broken);
	/* A law that broke, and a run that was not seen whole. */
	made_init(&m);
	made_rx(&m, 0)->site[SITE_rx_copy].bytes++;
	made_judge(&m);
	verdict_fill(&m.r, &v);
	assert_true(!v.passed && v.laws_broken);
	made_init(&m);
	made_judge(&m);
	m.r.outcome.status = RUN_BLIND;
	verdict_fill(&m.r, &v);
	assert_true(!v.passed && !v.laws_broken && !v.referenced_known && !v.copies_known);
}
