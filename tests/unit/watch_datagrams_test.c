// SPDX-License-Identifier: GPL-2.0
/* Books of UDP sockets: what moved at each site, both sides of their laws, and what makes a law untestable. */
#include <string.h>

#include "tests/unit/slips.h"
#include "tests/unit/unit.h"
#include "userspace/watch/books/books_socket.h"

static const struct watch_hooked trampolines = {
	.sends = true, .completions = true, .packets = true, .late_copies = true, .devices = true, .moved = true,
	.rings = true, .no_rings = true, .trampolines = true, .datagrams = true, .handed = true, .queued = true,
	.datagram_drops = true, .taps = true,
};

static const struct watch_hooked tracepoints = {
	.sends = true, .rx_copies = true, .discards = true, .completions = true, .packets = true, .devices = true,
	.rings = true, .no_rings = true, .datagrams = true, .datagram_drops = true,
};

/* In mid-stream: 7 of a datagram held back, 1,000 unread. Then 23 of 4,093 were sent, 10 of them by reference, and
 * 24 taken, 93 of whose bytes did not fit; one was refused, and 50 peeked at. */
static struct watch_book talked(void)
{
	return (struct watch_book){
		.cookie = 1, .slot_at = 1, .flags = WATCH_DATAGRAMS, .owner = { .tgid = 5, .started_ns = 6 },
		.opened = { .unsent = 7, .unread = 1000 },
		.now = { .unread = 4093, .drops = 1 },
		.slot = {
			.datagrams = 1, .departures_noted = 1, .sends_returned = 94139, .send_calls = 23,
			.sent_as = { [WATCH_KIND_REFERENCE] = 40930 }, .sent_referenced = 40930,
			.late_copied = 40930, .handed_over = 94146, .rx_queued = 98232,
			.recvs_returned = 95046, .recv_calls = 24, .rx_cut = 93, .rx_peeked = 50,
			.rx_refused = 1, .rx_dropped = 4093,
		},
		.rx_copied = 95096,
	};
}

static struct watch_sides law_of(const struct watch_book *book, const struct watch_hooked *hooked, enum watch_law law)
{
	struct watch_socket s;

	watch_socket_fill(&s, book, hooked);
	return watch_law_sides(law, &s, book, hooked);
}

static void balances(const struct watch_book *book, const struct watch_hooked *hooked, enum watch_law law)
{
	struct watch_sides sides = law_of(book, hooked, law);

	assert_true(sides.known);
	assert_int_equal(sides.left, sides.right);
}

static void breaks(const struct watch_book *book, enum watch_law law)
{
	struct watch_sides sides = law_of(book, &trampolines, law);

	assert_true(sides.known);
	assert_int_not_equal(sides.left, sides.right);
}

static bool has(const struct watch_socket *s, enum site site, uint64_t bytes)
{
	return s->moved.sites_known >> site & 1 && s->moved.site[site].bytes == bytes;
}

static bool counts(const struct watch_socket *s, enum count count, uint64_t n)
{
	return s->moved.counts_known >> count & 1 && s->moved.count[count] == n;
}

TEST(test_each_byte_is_at_its_site)
{
	struct watch_book book = talked();
	struct watch_socket s;

	watch_socket_fill(&s, &book, &trampolines);
	assert_true(s.datagrams);
	assert_true(counts(&s, COUNT_accepted_bytes, 94139) && counts(&s, COUNT_returned_bytes, 95046));
	assert_true(has(&s, SITE_tx_copy, 53209) && has(&s, SITE_tx_reference, 40930));
	assert_true(has(&s, SITE_late_copy, 40930) && has(&s, SITE_rx_copy, 95096));
	assert_true(counts(&s, COUNT_dropped_bytes, 4093) && counts(&s, COUNT_truncated_bytes, 93));
	assert_int_equal(s.opening.item[WATCH_unsent_bytes], 7);
	assert_int_equal(s.closing.item[WATCH_unread_bytes], 4093);
	balances(&book, &trampolines, WATCH_LAW_send_queue);
	balances(&book, &trampolines, WATCH_LAW_receive_queue);
	balances(&book, &trampolines, WATCH_LAW_reference_queue);
	balances(&book, &trampolines, WATCH_LAW_receives);
	assert_false(law_of(&book, &trampolines, WATCH_LAW_sends).known);
}

/* 23 sends by MSG_ZEROCOPY that UDP copied, as each is larger than the MTU. */
static struct watch_book declined(void)
{
	struct watch_book book = talked();

	book.opened = (struct watch_reading){};
	book.now.zerocopy_sends = book.slot.completed_sends = book.slot.copied_sends = book.slot.next_id = 23;
	book.slot.asked_bytes = 94139;
	book.slot.sent_as[WATCH_KIND_REFERENCE] = book.slot.sent_referenced = book.slot.late_copied = 0;
	return book;
}

TEST(test_what_zero_copy_sends_did_not_reference_was_declined)
{
	const struct watch_hooked *const both[] = { &trampolines, &tracepoints };
	struct watch_book book = declined();
	struct watch_socket s;

	for (int i = 0; i < 2; i++) {
		watch_socket_fill(&s, &book, both[i]);
		assert_int_equal(s.moved.declined_bytes, 94139);
		assert_int_equal(s.moved.declined_unknown, 0);
	}
	/* One more that did not ask: tracepoints do not tell which. */
	book.slot.send_calls++;
	book.slot.sends_returned += 50;
	watch_socket_fill(&s, &book, &trampolines);
	assert_int_equal(s.moved.declined_bytes, 94139);
	watch_socket_fill(&s, &book, &tracepoints);
	assert_int_equal(s.moved.declined_unknown, 1);
	book.now.zerocopy_sends = 0;
	watch_socket_fill(&s, &book, &tracepoints);
	assert_int_equal(s.moved.declined_bytes + s.moved.declined_unknown, 0);
}

/* No notification is outstanding where none holds option memory, and none was before the first send. */
TEST(test_completions_counted_twice_or_not_at_all_break_their_law)
{
	struct watch_book book = declined();

	balances(&book, &trampolines, WATCH_LAW_completion);
	book.slot.completed_sends += 12;
	book.slot.opened_sends += 12;
	breaks(&book, WATCH_LAW_completion);
	book = declined();
	book.slot.completed_sends = book.slot.next_id = 22;
	breaks(&book, WATCH_LAW_completion);
	book.now.option_bytes = 768;
	balances(&book, &trampolines, WATCH_LAW_completion);
}

/* Random program of UDP 115 on 6.1: 13 sends, 12 notifications, the newest of them among those, when the socket closed. */
TEST(test_a_notification_that_others_overtook_may_be_still_to_come)
{
	struct watch_book book = declined();

	book.slot.completed_sends -= 1;
	book.slot.skipped_ids = 1;
	breaks(&book, WATCH_LAW_completion);
	book.now.option_bytes = 768;
	assert_string_equal(law_of(&book, &trampolines, WATCH_LAW_completion).why,
			    "notifications overtook others, which were still to come");
}

/* All of its laws can be tested, with numbers on both sides: 23 sends by reference, each copied late, 24 receives. */
static struct watch_book all_laws(void)
{
	struct watch_book book = talked();

	book.flags |= WATCH_BORN | WATCH_DIED;
	book.opened.unsent = 0;
	book.now.zerocopy_sends = book.slot.completed_sends = book.slot.copied_sends = book.slot.next_id = 23;
	book.slot.sent_as[WATCH_KIND_REFERENCE] = book.slot.sent_referenced = book.slot.late_copied = 94139;
	book.slot.handed_over = book.slot.asked_bytes = 94139;
	return book;
}

/* Those of sends by calls are true by construction. */
TEST(test_each_law_breaks_when_either_side_is_off_by_one)
{
	static const enum watch_law laws[] = { WATCH_LAW_send_queue, WATCH_LAW_receive_queue, WATCH_LAW_reference_queue,
					       WATCH_LAW_completion, WATCH_LAW_copied, WATCH_LAW_receives };
	struct watch_book book = all_laws();

	for (size_t i = 0; i < sizeof(laws) / sizeof(*laws); i++) {
		balances(&book, &trampolines, laws[i]);
		assert_int_not_equal(law_of(&book, &trampolines, laws[i]).left, 0);
	}
	BREAKS(send_queue, slot.sends_returned, 1);
	BREAKS(send_queue, slot.handed_over, 1);
	BREAKS(receive_queue, slot.rx_queued, 1);
	BREAKS(receive_queue, rx_copied, 1);
	BREAKS(receive_queue, slot.rx_cut, 1);
	BREAKS(receive_queue, now.unread, 1);
	BREAKS(reference_queue, slot.sent_referenced, -1);
	BREAKS(completion, now.zerocopy_sends, 1);
	BREAKS(completion, slot.completed_sends, 1);
	BREAKS(copied, slot.copied_sends, -1);
	BREAKS(copied, slot.completed_sends, 1);
	BREAKS(receives, rx_copied, 1);
	BREAKS(receives, slot.recvs_returned, 1);
	/* No more can be referenced than was accepted. */
	book.slot.sends_returned++;
	book.slot.sent_as[WATCH_KIND_REFERENCE]++;
	breaks(&book, WATCH_LAW_reference_queue);
}

TEST(test_a_datagram_that_is_not_whole_has_not_been_handed_over)
{
	struct watch_book book = talked();

	book.now.unsent = 46;
	book.slot.handed_over -= 46;
	balances(&book, &trampolines, WATCH_LAW_send_queue);
}

TEST(test_one_byte_that_no_hook_counted_breaks_its_law)
{
	struct watch_book book = talked();

	book.slot.rx_queued--;
	breaks(&book, WATCH_LAW_receive_queue);
	book = talked();
	book.slot.recvs_returned++;
	breaks(&book, WATCH_LAW_receives);
	book = talked();
	book.opened.unsent = 0;
	book.slot.sent_referenced--;
	breaks(&book, WATCH_LAW_reference_queue);
	book = talked();
	book.slot.handed_over--;
	/* A send may have been under way, unless the socket began and ended in the window. */
	assert_false(law_of(&book, &trampolines, WATCH_LAW_send_queue).known);
	book.flags |= WATCH_BORN | WATCH_DIED;
	breaks(&book, WATCH_LAW_send_queue);
}

TEST(test_what_explains_a_difference_makes_a_law_untestable)
{
	struct watch_book book = talked();

	book.slot.rx_queued--;
	book.now.restless = 1;
	assert_false(law_of(&book, &trampolines, WATCH_LAW_receive_queue).known);
	book.now.restless = 0;
	/* The kernel says that it dropped one more than was refused. */
	book.now.drops++;
	assert_false(law_of(&book, &trampolines, WATCH_LAW_receive_queue).known);
	book = talked();
	book.flags |= WATCH_BORN | WATCH_DIED;
	book.slot.handed_over--;
	book.slot.send_failed = 1;
	assert_false(law_of(&book, &trampolines, WATCH_LAW_send_queue).known);
}

/* Packets tell what was referenced: the laws that this could break are true by construction. */
TEST(test_tracepoints_know_sites_and_test_no_law_of_queues)
{
	struct watch_book book = talked();
	struct watch_socket s;

	book.opened.unsent = 0;
	watch_socket_fill(&s, &book, &tracepoints);
	assert_true(has(&s, SITE_tx_copy, 53209) && has(&s, SITE_tx_reference, 40930));
	assert_false(s.moved.counts_known >> COUNT_truncated_bytes & 1);
	assert_false(law_of(&book, &tracepoints, WATCH_LAW_send_queue).known);
	assert_false(law_of(&book, &tracepoints, WATCH_LAW_receive_queue).known);
	assert_false(law_of(&book, &tracepoints, WATCH_LAW_reference_queue).known);
	/* A receive told the length of a datagram and not what it copied. */
	book.slot.rx_odd = 1;
	watch_socket_fill(&s, &book, &tracepoints);
	assert_false(s.moved.counts_known >> COUNT_returned_bytes & 1 || s.moved.sites_known >> SITE_rx_copy & 1);
}

TEST(test_what_was_sent_before_its_hook_is_not_known)
{
	struct watch_book book = talked();
	struct watch_socket s;

	/* That its packets were not watched yet hides what became of its pages, and not what it sent. */
	book.slot.pages_unwatched = WATCH_PACKETS_UNSEEN;
	watch_socket_fill(&s, &book, &trampolines);
	assert_true(has(&s, SITE_tx_copy, 53209) && has(&s, SITE_tx_reference, 40930));
	book.slot.pages_unwatched |= WATCH_REFERENCES_UNSEEN;
	watch_socket_fill(&s, &book, &trampolines);
	assert_true(counts(&s, COUNT_accepted_bytes, 94139));
	assert_false(s.moved.sites_known & (1u << SITE_tx_copy | 1u << SITE_tx_reference));
	watch_socket_fill(&s, &book, &tracepoints);
	assert_false(s.moved.counts_known >> COUNT_accepted_bytes & 1);
}
