// SPDX-License-Identifier: GPL-2.0
/* From sequence numbers to bytes: SYN, FIN, closes, several lives, sums and laws. */
#include <string.h>

#include "tests/unit/slips.h"
#include "tests/unit/unit.h"
#include "tests/unit/watch_hooks.h"
#include "userspace/judge/causes.h"
#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/books/watch_judge.h"

enum { ESTABLISHED = 1, FIN_WAIT1 = 4, FIN_WAIT2 = 5, CLOSE_WAIT = 8 };

/* A socket that is in mid-stream: 100 unsent, 20 unacknowledged, 7 unread when the window opens. */
static struct watch_book mid_stream(void)
{
	struct watch_book book = {
		.cookie = 1, .slot_at = 1, .owner = { .tgid = 5, .started_ns = 6 },
		.opened = { .accepted = 1000, .sent = 900, .received = 500, .unsent = 100, .unacked = 20,
			    .unread = 7, .state = ESTABLISHED },
		.slot = { .since = 1000 },
	};

	book.now = book.opened;
	return book;
}

static uint64_t count_of(const struct watch_socket *s, enum count count)
{
	assert_true(s->moved.counts_known & 1ull << count);
	return s->moved.count[count];
}

static uint64_t site_of(const struct watch_socket *s, enum site site)
{
	assert_true(s->moved.sites_known & 1u << site);
	return s->moved.site[site].bytes;
}

/* The counts of --detail, of a socket that sent 500 bytes, 30 of them twice. */
static struct watch_socket with_detail(const struct watch_book *book, const struct books *detail)
{
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;

	hooked.calls = hooked.wire = hooked.trampolines = hooked.pins = hooked.fast_open = true;
	hooked.detail = detail;
	watch_socket_fill(&s, book, &hooked);
	return s;
}

TEST(details_are_known_where_they_agree_with_tcp)
{
	static const enum count of_packets[] = { COUNT_wire_copied_bytes, COUNT_wire_referenced_pages,
						 COUNT_retrans_copied_bytes, COUNT_mixed_bytes };
	struct books detail = { .count = { [COUNT_wire_copied_bytes] = 100, [COUNT_wire_referenced_bytes] = 430,
					   [COUNT_retrans_referenced_bytes] = 30, [COUNT_wire_referenced_pages] = 4,
					   [COUNT_zerocopy_asked_sends] = 3, [COUNT_nosg_bytes] = 120,
					   [COUNT_pinned_pages] = 4, [COUNT_released_pages] = 4 } };
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.now.sent += 530;
	book.now.retransmitted += 30;
	s = with_detail(&book, &detail);
	assert_int_equal(count_of(&s, COUNT_wire_copied_bytes), 100);
	assert_int_equal(count_of(&s, COUNT_retrans_referenced_bytes), 30);
	assert_int_equal(count_of(&s, COUNT_mixed_bytes), 20);
	assert_int_equal(count_of(&s, COUNT_zerocopy_asked_sends), 3);
	assert_int_equal(count_of(&s, COUNT_released_pages), 4);
	/* A packet passed two devices, or no program saw it. */
	for (int n = -1; n <= 1; n += 2) {
		detail.count[COUNT_wire_copied_bytes] += n;
		s = with_detail(&book, &detail);
		for (size_t i = 0; i < sizeof(of_packets) / sizeof(*of_packets); i++)
			assert_false(s.moved.counts_known >> of_packets[i] & 1);
		detail.count[COUNT_wire_copied_bytes] -= n;
	}
	/* A send was under way at the opening. */
	book.opened.calls_sleep = 1;
	s = with_detail(&book, &detail);
	assert_false(s.moved.counts_known >> COUNT_zerocopy_asked_sends & 1);
	s = with_detail(&book, NULL);
	assert_false(s.moved.counts_known >> COUNT_pinned_pages & 1);
}

static void balances(const struct watch_socket *s, const struct watch_book *book, enum watch_law law)
{
	struct watch_sides sides = watch_law_sides(law, s, book, &all_hooks);

	assert_true(sides.known);
	assert_int_equal(sides.left, sides.right);
}

TEST(test_what_moved_is_between_two_balances)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.now.accepted = 1500;
	book.now.sent = 1500;
	book.now.unsent = 0;
	book.now.received = 800;
	book.now.unread = 0;
	book.rx_copied = 307;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(count_of(&s, COUNT_accepted_bytes), 500);
	assert_int_equal(count_of(&s, COUNT_returned_bytes), 307);
	assert_int_equal(site_of(&s, SITE_tx_copy), 500);
	assert_int_equal(site_of(&s, SITE_rx_splice), 0);
	assert_int_equal(s.opening.item[WATCH_unread_bytes], 7);
	/* 500 accepted and 100 unsent before, 600 sent. */
	balances(&s, &book, WATCH_LAW_send_queue);
	balances(&s, &book, WATCH_LAW_receive_queue);
	book.now.sent++;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_not_equal(watch_law_sides(WATCH_LAW_send_queue, &s, &book, &all_hooks).left,
			     watch_law_sides(WATCH_LAW_send_queue, &s, &book, &all_hooks).right);
}

TEST(test_what_was_peeked_was_copied_and_not_taken)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.now.received = 800;
	book.now.unread = 200;
	book.slot.rx_peeked = 50;
	book.rx_copied = 157;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(site_of(&s, SITE_rx_copy), 157);
	assert_int_equal(count_of(&s, COUNT_returned_bytes), 107);
	balances(&s, &book, WATCH_LAW_receive_queue);
}

TEST(test_sends_are_held_against_what_they_returned)
{
	struct watch_book book = mid_stream();
	struct watch_hooked hooked = all_hooks;
	struct watch_sides sides;
	struct watch_socket s;

	hooked.calls = true;
	book.now.accepted += 500;
	book.now.unsent += 500;
	book.slot.sends_returned = 499;
	watch_socket_fill(&s, &book, &hooked);
	assert_false(watch_law_sides(WATCH_LAW_sends, &s, &book, &hooked).known);
	s.whole = true;
	sides = watch_law_sides(WATCH_LAW_sends, &s, &book, &hooked);
	assert_true(sides.known);
	assert_int_equal(sides.left, 500);
	assert_int_equal(sides.right, 499);
}

/* Three sends by reference whose notifications the window saw come, of which two were outstanding when it opened. */
TEST(test_sends_that_were_outstanding_when_the_window_opened_complete_in_it)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.opened.zerocopy_sends = 10;
	book.now.zerocopy_sends = 11;
	book.slot.opened_sends = 2;
	book.slot.completed_sends = 3;
	book.slot.next_id = book.now.first_id = 11;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(s.opening.item[WATCH_zerocopy_sends], 2);
	assert_int_equal(watch_law_sides(WATCH_LAW_completion, &s, &book, &all_hooks).left, 3);
	balances(&s, &book, WATCH_LAW_completion);
	book.slot.next_id = book.now.first_id = 10;
	book.slot.completed_sends = 2;
	watch_socket_fill(&s, &book, &all_hooks);
	balances(&s, &book, WATCH_LAW_completion);
}

/* All of its laws can be tested, with numbers on both sides: 500 bytes by reference in 3 sends, 307 bytes copied out. */
static struct watch_book all_laws(void)
{
	struct watch_book book = mid_stream();

	book.flags = WATCH_BORN | WATCH_DIED;
	book.opened.sent = book.opened.accepted;
	book.opened.unsent = 0;
	book.now.accepted = book.now.sent = book.opened.accepted + 500;
	book.now.unsent = 0;
	book.now.received = 800;
	book.now.unread = 0;
	book.now.zerocopy_sends = book.now.first_id = book.slot.next_id = 3;
	book.rx_copied = book.slot.rx_settled = book.slot.recvs_returned = 307;
	book.slot.since = 1500;
	book.slot.sent_as[WATCH_KIND_REFERENCE] = book.slot.sent_referenced = book.slot.late_copied = 500;
	book.slot.sends_returned = 500;
	book.slot.departures_noted = 1;
	book.slot.departed_from = 900;
	book.slot.departed = 600;
	book.slot.completed_sends = book.slot.copied_sends = 3;
	return book;
}

static struct watch_sides sides_with_calls(const struct watch_book *book, enum watch_law law)
{
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;

	hooked.calls = hooked.rx_calls = hooked.late_copies = true;
	watch_socket_fill(&s, book, &hooked);
	return watch_law_sides(law, &s, book, &hooked);
}

static void breaks(const struct watch_book *book, enum watch_law law)
{
	struct watch_sides sides = sides_with_calls(book, law);

	assert_true(sides.known);
	assert_int_not_equal(sides.left, sides.right);
}

TEST(test_each_law_breaks_when_either_side_is_off_by_one)
{
	static const enum watch_law laws[] = { WATCH_LAW_send_queue, WATCH_LAW_receive_queue, WATCH_LAW_reference_queue,
					       WATCH_LAW_completion, WATCH_LAW_copied, WATCH_LAW_sends, WATCH_LAW_receives };
	struct watch_book book = all_laws();

	for (size_t i = 0; i < sizeof(laws) / sizeof(*laws); i++) {
		struct watch_sides sides = sides_with_calls(&book, laws[i]);

		assert_true(sides.known);
		assert_int_equal(sides.left, sides.right);
		assert_int_not_equal(sides.left, 0);
	}
	BREAKS(send_queue, now.accepted, 1);
	BREAKS(send_queue, now.sent, 1);
	BREAKS(receive_queue, now.received, 1);
	BREAKS(receive_queue, rx_copied, 1);
	BREAKS(reference_queue, slot.sent_as[WATCH_KIND_REFERENCE], 1);
	BREAKS(reference_queue, slot.sent_referenced, 1);
	BREAKS(completion, opened.zerocopy_sends, 1);
	BREAKS(completion, slot.completed_sends, 1);
	BREAKS(copied, slot.copied_sends, -1);
	BREAKS(copied, slot.completed_sends, 1);
	BREAKS(sends, now.accepted, 1);
	BREAKS(sends, slot.sends_returned, 1);
	BREAKS(receives, now.received, 1);
	BREAKS(receives, slot.recvs_returned, 1);
}

/* Calls of other threads or processes that share the socket, when the window opens. */
TEST(test_a_send_under_way_at_the_opening_may_fail)
{
	struct watch_book book = all_laws();

	/* It fails, and the socket gives its number out again. */
	book.opened.zerocopy_sends = book.opened.first_id = 1;
	book.now.zerocopy_sends = book.now.first_id = 0;
	assert_false(sides_with_calls(&book, WATCH_LAW_completion).known);
	/* Three more were made besides. */
	book = all_laws();
	book.now.zerocopy_sends = book.now.first_id = 2;
	breaks(&book, WATCH_LAW_completion);
	book.opened.calls_sleep = 1;
	assert_false(sides_with_calls(&book, WATCH_LAW_completion).known);
	/* Pages of io_uring's, whose notifications have no number, show no such thing. */
	book.opened.calls_sleep = 0;
	book.opened.referenced_bytes = 101;
	breaks(&book, WATCH_LAW_completion);
	/* Its number is that of a packet, which another send made. */
	book.opened.numbered = 1;
	assert_false(sides_with_calls(&book, WATCH_LAW_completion).known);
}

TEST(test_a_receive_under_way_at_the_opening_may_have_discarded)
{
	struct watch_book book = all_laws();
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;

	hooked.no_sockmaps = true;
	book.slot.rx_discarded = 2998;
	breaks(&book, WATCH_LAW_receive_queue);
	book.opened.calls_sleep = 1;
	assert_false(sides_with_calls(&book, WATCH_LAW_receive_queue).known);
	watch_socket_fill(&s, &book, &hooked);
	assert_false(s.moved.sites_known >> SITE_rx_discard & 1);
	assert_int_equal(count_of(&s, COUNT_returned_bytes), 307);
}

/* Its process closed it while it still sends: the notification of what has left was dropped. */
TEST(test_no_notification_comes_to_a_socket_that_no_process_has)
{
	struct watch_book book = all_laws();

	book.flags = 0;
	book.slot.completed_sends = book.slot.copied_sends = 2;
	book.slot.next_id = 2;
	breaks(&book, WATCH_LAW_completion);
	book.now.orphaned = 1;
	assert_int_equal(sides_with_calls(&book, WATCH_LAW_completion).right, 3);
	assert_true(sides_with_calls(&book, WATCH_LAW_completion).known);
}

/* write_seq - snd_nxt where one of them is of another life. */
TEST(test_an_implausible_number_is_not_told)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.now.accepted = book.opened.accepted - 1;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_false(s.moved.counts_known & 1ull << COUNT_accepted_bytes);
	assert_false(s.moved.sites_known & 1u << SITE_tx_copy);
	assert_int_equal(s.moved.implausible, 2);
	assert_false(watch_law_sides(WATCH_LAW_send_queue, &s, &book, &all_hooks).known);
	book = mid_stream();
	book.now.referenced_bytes = -1ull;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_false(s.closing.known >> WATCH_referenced_bytes & 1);
}

TEST(test_receives_are_held_against_what_they_returned_unless_other_calls_copied)
{
	struct watch_book book = mid_stream();
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;

	hooked.calls = true;
	book.now.received = 800;
	book.now.unread = 0;
	book.slot.recvs_returned = book.slot.rx_settled = book.rx_copied = 307;
	watch_socket_fill(&s, &book, &hooked);
	/* Calls under way when the window opened explain nothing here. */
	s.whole = true;
	assert_int_equal(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).right, 307);
	/* The last bytes by TCP_ZEROCOPY_RECEIVE, which maps none. */
	book.slot.recvs_returned = book.slot.rx_settled = 300;
	assert_false(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
	/* A returned byte that was not counted. */
	book.slot.rx_settled = 307;
	assert_true(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
	assert_int_equal(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).right, 300);
}

TEST(test_what_was_spliced_out_is_held_against_receives_and_explains_no_lost_byte)
{
	struct watch_book book = mid_stream();
	struct watch_hooked hooked = all_hooks;
	struct watch_sides sides;
	struct watch_socket s;

	hooked.calls = hooked.no_sockmaps = true;
	book.flags = WATCH_BORN | WATCH_DIED;
	book.now.received = 800;
	book.now.unread = 0;
	/* 300 of 307 were copied, and no tracepoint tells of the others. */
	book.slot.recvs_returned = book.slot.rx_settled = book.rx_copied = 300;
	watch_socket_fill(&s, &book, &hooked);
	sides = watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked);
	assert_true(sides.known);
	assert_int_equal(sides.left, 307);
	assert_int_equal(sides.right, 307);
	book.slot.recvs_returned--;
	sides = watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked);
	assert_true(sides.known);
	assert_int_equal(sides.right, 306);
	/* With trampolines the call that splices tells. */
	hooked.rx_calls = hooked.trampolines = true;
	book.slot.recvs_returned = 300;
	book.slot.rx_spliced = 7;
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).right, 307);
	book.slot.rx_spliced = 6;
	watch_socket_fill(&s, &book, &hooked);
	sides = watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked);
	assert_true(sides.known);
	assert_int_equal(sides.right, 306);
}

TEST(test_a_send_that_is_refused_with_nothing_in_flight_is_larger_than_the_limit)
{
	struct watch_book book = mid_stream();
	struct watch_hooked hooked = all_hooks;
	struct cause causes[CAUSES_OF_MOVEMENTS];
	struct watch_socket s;

	hooked.limits = true;
	book.slot.refused_memlock = 40;
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(causes_of_movements(&s.moved, causes), 1);
	assert_non_null(strstr(causes[0].remedy, "waiting does not help"));
	assert_int_equal(causes[0].tally.calls, 40);
	/* By tracepoints, too, which tell of no limit. */
	hooked.limits = false;
	book.slot.refused_memlock = 0;
	book.slot.refused_by_unknown = 40;
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(causes_of_movements(&s.moved, causes), 1);
	assert_non_null(strstr(causes[0].remedy, "waiting does not help"));
	/* One that was taken may have been in flight. */
	book.now.zerocopy_sends = 1;
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(causes_of_movements(&s.moved, causes), 1);
	assert_null(strstr(causes[0].remedy, "waiting does not help"));
}

TEST(test_a_fin_is_no_byte)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	/* A FIN behind the unsent bytes, and one of the other side behind the unread ones. */
	book.now.accepted++;
	book.now.unsent++;
	book.now.fin_queued = 1;
	book.now.state = FIN_WAIT1;
	book.now.received++;
	book.now.unread++;
	book.now.fin_received = 1;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(count_of(&s, COUNT_accepted_bytes), 0);
	assert_int_equal(count_of(&s, COUNT_returned_bytes), 0);
	assert_int_equal(s.closing.item[WATCH_unsent_bytes], 100);
	assert_int_equal(s.closing.item[WATCH_unread_bytes], 7);
	balances(&s, &book, WATCH_LAW_send_queue);
	balances(&s, &book, WATCH_LAW_receive_queue);
	/* The FIN was sent with the rest and is on its way; the other one was read. */
	book.now.sent += 100;
	book.now.unsent = 0;
	book.now.unacked = 121;
	book.now.unread = 0;
	book.rx_copied = 7;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(s.closing.item[WATCH_unacked_bytes], 120);
	assert_int_equal(count_of(&s, COUNT_returned_bytes), 7);
	balances(&s, &book, WATCH_LAW_send_queue);
	balances(&s, &book, WATCH_LAW_receive_queue);
}

TEST(test_a_socket_that_was_born_has_an_opening_balance_of_nothing)
{
	/* It connected, so that its SYN is among what was accepted, sent 10 bytes and closed. */
	struct watch_book book = {
		.cookie = 2, .slot_at = 1, .flags = WATCH_BORN | WATCH_ACTIVE | WATCH_CLOSED | WATCH_DIED,
		.opened = { .accepted = 1 },
		.closed = { .accepted = 12, .sent = 10, .state = FIN_WAIT2, .fin_queued = 1 },
		.slot = { .sent_as = { 10 }, .since = 11 },
	};
	struct watch_socket s;

	watch_socket_fill(&s, &book, &all_hooks);
	assert_true(s.whole);
	assert_int_equal(count_of(&s, COUNT_accepted_bytes), 10);
	assert_int_equal(site_of(&s, SITE_tx_copy), 10);
	balances(&s, &book, WATCH_LAW_send_queue);
}

TEST(test_lives_of_one_socket_add_up)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.past_accepted = 40;
	book.past_sent = 40;
	book.slot.sent_as[WATCH_KIND_COPY] = 40;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(count_of(&s, COUNT_accepted_bytes), 40);
	balances(&s, &book, WATCH_LAW_send_queue);
}

TEST(test_kinds_share_what_was_accepted)
{
	struct watch_book book = mid_stream();
	struct watch_socket s;

	book.now.accepted = 1600;
	book.now.sent = 1500;
	book.slot.sent_as[WATCH_KIND_COPY] = 200;
	book.slot.kind = WATCH_KIND_SPLICE;
	book.slot.since = 1200;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(site_of(&s, SITE_tx_copy), 200);
	assert_int_equal(site_of(&s, SITE_tx_splice), 400);
	assert_int_equal(site_of(&s, SITE_tx_reference), 0);
	assert_int_equal(site_of(&s, SITE_late_copy), 0);
	/* When it closes, what was added since is charged. */
	book.closed = book.now;
	book.flags |= WATCH_CLOSED;
	book.slot.sent_as[WATCH_KIND_SPLICE] = 400;
	watch_socket_fill(&s, &book, &all_hooks);
	assert_int_equal(site_of(&s, SITE_tx_splice), 400);
}

TEST(test_what_no_hook_counted_is_not_known)
{
	const struct watch_hooked no_hooks = {};
	struct watch_book book = mid_stream();
	struct watch_socket s;

	watch_socket_fill(&s, &book, &no_hooks);
	/* That it has no TLS its layers tell. */
	for (enum site site = 0; site < SITE_COUNT; site++)
		assert_int_equal(s.moved.sites_known >> site & 1, site_has(site, SITE_OF_TLS));
	assert_true(s.moved.counts_known & 1ull << COUNT_accepted_bytes);
	assert_false(watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &no_hooks).known);
	assert_false(watch_law_sides(WATCH_LAW_completion, &s, &book, &no_hooks).known);
	assert_true(watch_law_sides(WATCH_LAW_send_queue, &s, &book, &no_hooks).known);
	book.slot.dropped_packets = 1;
	assert_false(watch_law_sides(WATCH_LAW_send_queue, &s, &book, &no_hooks).known);
}

TEST(test_sums_keep_what_died_and_forget_what_is_late)
{
	struct watch_record r = {};
	struct watch_tally tally;
	struct watch_book book = mid_stream();

	watch_tally_begin(&tally, 1);
	book.now.accepted += 30;
	book.now.sent += 30;
	for (int i = 0; i < 3; i++) {
		book.cookie = 10 + i;
		book.flags = WATCH_DIED;
		assert_int_equal(watch_tally_death(&tally, &book, &all_hooks), 0);
	}
	assert_int_equal(watch_tally_read(&tally, NULL, 0, false, &r), 0);
	assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 90);
	assert_int_equal(r.total.lately.count[COUNT_accepted_bytes], 90);
	assert_int_equal(r.process_count, 1);
	assert_int_equal(r.socket_count, 1);
	assert_int_equal(r.folded_sockets, 2);
	assert_int_equal(r.laws[WATCH_LAW_send_queue].status, LAW_BALANCED);
	watch_record_free(&r);
	assert_int_equal(watch_tally_read(&tally, NULL, 0, false, &r), 0);
	assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 90);
	assert_int_equal(r.total.lately.count[COUNT_accepted_bytes], 0);
	watch_record_free(&r);
	watch_tally_free(&tally);
}

/* A program for packets was skipped, which shows only after the socket died. */
TEST(test_what_was_skipped_later_makes_laws_of_the_dead_untestable)
{
	struct watch_record r = {};
	struct watch_tally tally;
	struct watch_book book = mid_stream();

	watch_tally_begin(&tally, 0);
	book.now.accepted += 30;
	book.now.sent += 20;
	book.flags = WATCH_DIED;
	assert_int_equal(watch_tally_death(&tally, &book, &all_hooks), 0);
	assert_int_equal(watch_tally_read(&tally, NULL, 0, false, &r), 0);
	assert_int_equal(r.laws[WATCH_LAW_send_queue].status, LAW_BROKEN);
	watch_record_free(&r);
	memset(&r, 0, sizeof(r));
	assert_int_equal(watch_tally_read(&tally, NULL, 0, true, &r), 0);
	assert_int_equal(r.laws[WATCH_LAW_send_queue].status, LAW_NOT_TESTABLE);
	assert_false(r.sockets[0].laws[WATCH_LAW_send_queue].known);
	watch_record_free(&r);
	watch_tally_free(&tally);
}

/* A skipped run was one socket's: two sockets are not explained by one. */
TEST(test_a_law_breaks_if_more_sockets_differ_than_moments_were_unseen)
{
	struct watch_tally tally;
	struct watch_book book = mid_stream();

	watch_tally_begin(&tally, 2);
	book.now.accepted += 30;
	book.now.sent += 20;
	book.flags = WATCH_DIED;
	for (; book.cookie <= 2; book.cookie++)
		assert_int_equal(watch_tally_death(&tally, &book, &all_hooks), 0);
	for (int unseen = 0; unseen <= 3; unseen++) {
		struct watch_record r = { .unseen_events = unseen };
		uint32_t broken = unseen < 2 ? 1u << WATCH_LAW_send_queue : 0;

		assert_int_equal(watch_tally_read(&tally, NULL, 0, false, &r), 0);
		assert_int_equal(r.laws[WATCH_LAW_send_queue].status, broken ? LAW_BROKEN : LAW_NOT_TESTABLE);
		assert_int_equal(r.laws[WATCH_LAW_receive_queue].status, LAW_BALANCED);
		assert_int_equal(r.total.laws_broken, broken);
		assert_int_equal(r.processes[0].sum.laws_broken, broken);
		for (int i = 0; i < 2; i++)
			assert_int_equal(r.sockets[i].laws[WATCH_LAW_send_queue].known, !!broken);
		watch_record_free(&r);
	}
	watch_tally_free(&tally);
}

static uint64_t bytes_by(const struct cause *causes, int count, const char *name)
{
	uint64_t bytes = 0;

	for (int i = 0; i < count; i++)
		if (!strcmp(causes[i].name, name))
			bytes += causes[i].tally.bytes;
	return bytes;
}

static struct watch_book referencing(uint64_t cookie, uint64_t late, uint64_t tapped)
{
	struct watch_book book = mid_stream();

	book.cookie = cookie;
	book.now.accepted += 700;
	book.now.sent += 800;
	book.now.unsent = 0;
	book.slot.sent_as[WATCH_KIND_REFERENCE] = 700;
	book.slot.late_copied = late;
	book.slot.tapped = tapped;
	book.slot.late_on_way_out = tapped < late ? tapped : late;
	return book;
}

/* A capture was shown more of the second socket than was copied of it; nobody looked at the third. */
TEST(test_causes_of_sockets_add_up_to_the_causes_of_all)
{
	static const char *const names[] = { "packet tap on tx", "arrival on this machine" };
	struct watch_hooked hooked = all_hooks;
	struct watch_book books[] = { referencing(1, 700, 0), referencing(2, 10, 500),
				      referencing(3, 99, 99), mid_stream() };
	static const uint64_t expected[][2] = { { 0, 700 }, { 10, 0 }, { 0, 0 }, { 0, 0 } };
	struct watch_socket sockets[4];
	struct cause causes[CAUSES_OF_MOVEMENTS];
	uint64_t sums[2] = {};
	struct watch_record r = {};
	struct watch_tally tally;

	hooked.taps = hooked.late_copies = true;
	books[2].flags |= WATCH_NO_SLOT;
	books[3].cookie = 4;
	watch_tally_begin(&tally, 0);
	for (int i = 0; i < 4; i++) {
		int count;

		watch_tally_open(&tally, &sockets[i], &books[i], &hooked);
		count = causes_of_movements(&sockets[i].moved, causes);
		assert_int_equal(count, !!expected[i][0] + !!expected[i][1]);
		for (int which = 0; which < 2; which++) {
			assert_int_equal(bytes_by(causes, count, names[which]), expected[i][which]);
			sums[which] += expected[i][which];
		}
	}
	assert_int_equal(watch_tally_read(&tally, sockets, 4, false, &r), 0);
	watch_causes_fill(&r, NULL, 0);
	for (int which = 0; which < 2; which++)
		assert_int_equal(bytes_by(r.causes, r.cause_count, names[which]), sums[which]);
	watch_record_free(&r);
	watch_tally_free(&tally);
}

TEST(test_with_details_stacks_tell_the_causes_of_copies)
{
	const struct copy_stack stacks[] = {
		{ .site = SITE_late_copy, .circumstances = COPIED_ANYWHERE, .tally = { 4000, 2 },
		  .frames = "__netif_receive_skb_core < __netif_receive_skb_one_core" },
		{ .site = SITE_late_copy, .circumstances = COPIED_ANYWHERE, .tally = { 300, 1 },
		  .frames = "ip_local_deliver_finish < ip_local_deliver" },
		{ .site = SITE_reshape, .tally = { 50, 1 }, .frames = "skb_segment < tcp_gso_segment" },
	};
	static struct watch_record r;

	r.total.moved.site[SITE_late_copy].bytes = 4300;
	r.total.moved.count[COUNT_enobufs] = 3;
	watch_causes_fill(&r, stacks, 3);
	/* Where the other end lives is not known, so nobody can tell a router from a receiver. */
	assert_int_equal(bytes_by(r.causes, r.cause_count, "arrival on this machine"), 4000);
	assert_int_equal(bytes_by(r.causes, r.cause_count, "local delivery"), 300);
	assert_int_equal(bytes_by(r.causes, r.cause_count, "no scatter-gather"), 50);
	/* A send that was refused leaves no stack. */
	assert_int_equal(r.cause_count, 4);
	assert_int_equal(r.causes[3].tally.calls, 3);
}

static struct watch_sides reference_sides(struct watch_book *book)
{
	struct watch_socket s;

	watch_socket_fill(&s, book, &all_hooks);
	return watch_law_sides(WATCH_LAW_reference_queue, &s, book, &all_hooks);
}

/* TCP's own count of what it sent tells whether each packet was seen to leave, once. */
TEST(test_packets_that_no_program_saw_make_the_reference_law_untestable)
{
	struct watch_book book = referencing(1, 700, 0);
	struct watch_sides sides;

	book.slot.sent_referenced = 700;
	assert_false(reference_sides(&book).known);
	book.slot.departures_noted = 1;
	book.slot.departed_from = 900;
	book.slot.departed = 800;
	sides = reference_sides(&book);
	assert_true(sides.known);
	assert_int_equal(sides.left, sides.right);
	book.slot.sent_referenced--;
	sides = reference_sides(&book);
	assert_true(sides.known);
	assert_int_not_equal(sides.left, sides.right);
	/* The byte has not left yet. */
	book.now.unsent_referenced_bytes = 1;
	sides = reference_sides(&book);
	assert_int_equal(sides.left, sides.right);
	book.slot.departed--;
	assert_false(reference_sides(&book).known);
	/* Two devices, one on top of the other. */
	book.slot.departed = 1600;
	assert_false(reference_sides(&book).known);
	/* A send that failed at its first page marks a packet of spliced pages, which leave as if they were its own. */
	book = referencing(1, 0, 0);
	book.slot.mixed = 1;
	assert_false(reference_sides(&book).known);
}

/* DNAT and IPVS take packets for an address of this machine to another host. */
TEST(test_a_receiver_is_here_if_its_packets_come_by_loopback_whatever_its_address)
{
	static const unsigned int devices[] = { 0, 1, 2 };	/* none yet, loopback, another one */

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		struct watch_sum sum = watch_sum_of_nothing();
		struct watch_book book = mid_stream();
		struct watch_socket s;

		book.local_ip[3] = book.remote_ip[3] = 0x0100007f;
		book.now.accepted += 300;
		book.now.sent += 300;
		book.now.arrives_on = devices[i];
		watch_socket_fill(&s, &book, &all_hooks);
		watch_sum_add(&sum, &s);
		assert_int_equal(sum.sent_here_bytes, devices[i] == 1 ? 300 : 0);
	}
}

TEST(test_refusals_by_either_limit_are_told_apart_from_those_by_one)
{
	struct watch_hooked hooked = all_hooks;
	struct watch_book book = mid_stream();
	struct cause causes[CAUSES_OF_MOVEMENTS];
	static const uint64_t calls[] = { 3, 5, 7 };
	struct watch_socket s;

	hooked.limits = true;
	book.slot.refused_optmem = calls[0];
	book.slot.refused_memlock = calls[1];
	book.slot.refused_by_unknown = calls[2];
	book.now.zerocopy_sends = 1;
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(count_of(&s, COUNT_enobufs), 15);
	assert_int_equal(causes_of_movements(&s.moved, causes), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(causes[i].tally.calls, calls[i]);
	assert_non_null(strstr(causes[2].why, "both limits"));
}

TEST(test_a_send_that_copied_although_it_was_asked_not_to_has_its_cause)
{
	struct watch_movements m = {};
	struct cause causes[CAUSES_OF_MOVEMENTS];

	watch_set_count(&m, COUNT_unset_sends, true, 23);
	watch_set_count(&m, COUNT_unset_bytes, true, 94139);
	m.count[COUNT_nosg_sends] = 7;	/* of some sockets alone: the sum is not known */
	assert_int_equal(causes_of_movements(&m, causes), 1);
	assert_string_equal(causes[0].name, "SO_ZEROCOPY not set");
	assert_int_equal(causes[0].site, SITE_tx_copy);
	assert_int_equal(causes[0].tally.bytes, 94139);
	assert_int_equal(causes[0].tally.calls, 23);
}

/* Drops and notifications are counted in the table alone: their laws hold, or are not testable. */
TEST(test_a_socket_for_which_the_table_had_no_room_breaks_no_law)
{
	struct watch_book book = mid_stream();
	struct watch_sides sides;
	struct watch_socket s;

	book.flags = WATCH_NO_SLOT;
	book.now.accepted += 300;
	book.now.sent += 300;
	book.now.zerocopy_sends = 3;
	watch_socket_fill(&s, &book, &all_hooks);
	balances(&s, &book, WATCH_LAW_send_queue);
	book.now.sent++;
	watch_socket_fill(&s, &book, &all_hooks);
	for (enum watch_law law = 0; law < WATCH_LAW_COUNT; law++) {
		sides = watch_law_sides(law, &s, &book, &all_hooks);
		assert_true(!sides.known || sides.left == sides.right);
	}
	sides = watch_law_sides(WATCH_LAW_completion, &s, &book, &all_hooks);
	assert_non_null(strstr(sides.why, "no room"));
	assert_false(s.moved.counts_known & 1ull << COUNT_completed_sends);
	assert_false(s.closing.known & 1u << WATCH_zerocopy_sends);
}
