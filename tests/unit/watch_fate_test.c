// SPDX-License-Identifier: GPL-2.0
/* What became of bytes that left as pages or were passed on so, and when that is not known. */
#include "tests/unit/unit.h"
#include "userspace/watch/books/books_socket.h"

enum { ESTABLISHED = 1, BYTES = 94139, SENDS = 23 };

static const struct watch_hooked tracepoints = {
	.sends = true, .rx_copies = true, .discards = true, .completions = true,
	.packets = true, .devices = true, .rings = true, .no_onward = true, .no_orphans = true,
	.no_sockmaps = true,
};

static struct watch_hooked trampolines(void)
{
	struct watch_hooked hooked = tracepoints;

	hooked.late_copies = hooked.moved = hooked.rx_calls = true;
	hooked.rx_copies = false;
	return hooked;
}

/* A socket that was born in the window and has sent BYTES in SENDS sends, all of which are completed. */
static struct watch_book sent_as(enum watch_kind kind)
{
	struct watch_book book = {
		.cookie = 1, .slot_at = 1, .flags = WATCH_BORN,
		.opened.state = ESTABLISHED,
		.now = { .accepted = BYTES, .sent = BYTES, .state = ESTABLISHED },
	};

	book.slot.sent_as[kind] = book.slot.since = BYTES;
	book.slot.departed = BYTES;
	book.slot.departures_noted = 1;
	if (kind == WATCH_KIND_REFERENCE) {
		book.now.zerocopy_sends = book.slot.completed_sends = SENDS;
		book.slot.sent_referenced = BYTES;
		book.slot.next_id = SENDS;
	}
	return book;
}

static struct watch_socket filled(const struct watch_book *book, const struct watch_hooked *hooked)
{
	struct watch_socket s;

	watch_socket_fill(&s, book, hooked);
	return s;
}

static void fate_is(const struct watch_book *book, const struct watch_hooked *hooked, uint64_t uncopied,
		    uint64_t later, uint64_t unknown)
{
	struct watch_socket s = filled(book, hooked);

	assert_int_equal(s.moved.fate.uncopied, uncopied);
	assert_int_equal(s.moved.fate.later, later);
	assert_int_equal(s.moved.fate.unknown, unknown);
}

static bool knows(const struct watch_book *book, const struct watch_hooked *hooked, enum site site)
{
	struct watch_socket s = filled(book, hooked);

	return s.moved.sites_known >> site & 1;
}

static struct watch_sides copied_law(const struct watch_book *book, const struct watch_hooked *hooked)
{
	struct watch_socket s = filled(book, hooked);

	return watch_law_sides(WATCH_LAW_copied, &s, book, hooked);
}

/* A device that takes no packets in pieces is handed none with user pages. */
TEST(nothing_is_uncopied_that_no_device_was_handed)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	fate_is(&book, &tracepoints, 0, 0, BYTES);
	book.slot.clean = BYTES;
	fate_is(&book, &tracepoints, BYTES, 0, 0);
	book.slot.clean = 0;
	book.slot.reshaped = BYTES;
	fate_is(&book, &all, 0, BYTES, 0);
}

/* What was referenced before the window may be what was copied in it. */
TEST(copies_of_what_was_sent_before_the_window_are_not_its_own)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.opened.referenced_bytes = 4093;
	book.slot.late_copied = 5000;
	fate_is(&book, &all, 0, 5000 - 4093, BYTES - 5000 + 4093);
}

TEST(what_left_twice_is_uncopied_once)
{
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.now.retransmitted = 1000;
	book.now.sent += 1000;
	book.slot.clean = BYTES + 1000;
	fate_is(&book, &tracepoints, BYTES, 0, 0);
	/* One packet of 1,000 never reached the device, another one did twice. */
	book.slot.clean = BYTES;
	fate_is(&book, &tracepoints, BYTES - 1000, 0, 1000);
}

TEST(captures_and_other_devices_make_late_copies_unknown)
{
	static const uint8_t unsure[] = { WATCH_PATH_TAPPED, WATCH_PATH_OTHER, WATCH_PATH_ONWARD };
	struct watch_hooked all = trampolines();

	for (size_t i = 0; i < sizeof(unsure); i++) {
		struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

		book.slot.paths = unsure[i];
		book.slot.clean = BYTES;
		assert_false(knows(&book, &tracepoints, SITE_late_copy));
		fate_is(&book, &tracepoints, 0, 0, BYTES);
		assert_true(knows(&book, &all, SITE_late_copy));
	}
}

/* Arrivals are no proof where the kernel says otherwise; where copies are hooked, a law breaks. */
TEST(completions_know_better_than_arrivals)
{
	struct watch_hooked all = trampolines();
	struct watch_book none = sent_as(WATCH_KIND_REFERENCE), all_late = none, some = none;

	none.slot.copied_sends = SENDS;
	none.slot.clean = BYTES;
	all_late.slot.late_copied = BYTES;
	some.slot.late_copied = BYTES;
	some.slot.copied_sends = SENDS - 1;
	for (int i = 0; i < 3; i++) {
		const struct watch_book *book = i == 0 ? &none : i == 1 ? &all_late : &some;
		struct watch_sides sides = copied_law(book, &all);

		assert_false(knows(book, &tracepoints, SITE_late_copy));
		fate_is(book, &tracepoints, 0, 0, BYTES);
		assert_false(copied_law(book, &tracepoints).known);
		assert_true(sides.known);
		assert_int_not_equal(sides.left, sides.right);
	}
	some.slot.copied_sends = SENDS;
	assert_true(knows(&some, &tracepoints, SITE_late_copy));
	fate_is(&some, &tracepoints, 0, BYTES, 0);
}

/* While a packet that is sent again has no route, a send without room marks the notification of those before. */
TEST(a_send_without_scatter_gather_may_say_copied_of_those_before)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.slot.copied_sends = 1;
	book.slot.clean = BYTES;
	assert_true(copied_law(&book, &all).known);
	book.now.retransmitted = 1;
	assert_false(copied_law(&book, &all).known);
	all.details = true;
	assert_true(copied_law(&book, &all).known);
	book.slot.unscattered_sends = 1;
	assert_false(copied_law(&book, &all).known);
}

/* The kernel adds the number of a send to the notification of those before, and leaves what that says of copies. */
TEST(a_notification_that_joined_another_denies_no_copy)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.slot.late_copied = BYTES;
	assert_true(copied_law(&book, &all).known);
	book.slot.added_sends = SENDS - 1;
	assert_false(copied_law(&book, &all).known);
	assert_true(knows(&book, &tracepoints, SITE_late_copy));
	/* All were added to one of before the window, which says COPIED; then all but one. */
	book.slot.late_copied = 0;
	book.slot.added_sends = book.slot.copied_sends = SENDS;
	assert_false(copied_law(&book, &all).known);
	book.slot.added_sends--;
	assert_true(copied_law(&book, &all).known);
}

/* For a time stamp's clone, and again on arrival; half of what was referenced never left. */
TEST(what_was_copied_twice_stands_for_no_send_that_never_left)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.slot.sent_referenced = BYTES / 2;
	book.slot.copied_sends = SENDS - 1;
	for (int times = 1; times <= 2; times++) {
		struct watch_sides sides;

		book.slot.late_copied = times * BYTES;
		sides = copied_law(&book, &all);
		assert_true(sides.known);
		assert_int_equal(sides.left, sides.right);
	}
	fate_is(&book, &all, 0, BYTES / 2, BYTES - BYTES / 2);
	book.slot.copied_sends = 0;
	assert_int_not_equal(copied_law(&book, &all).left, copied_law(&book, &all).right);
}

/* A packet is copied whole, with what was spliced into it or waited in it; one that is thrown away is not copied. */
TEST(other_bytes_that_were_copied_late_are_none_of_a_send_by_reference)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.slot.late_copied = BYTES;
	book.slot.copied_sends = SENDS - 1;
	assert_int_not_equal(copied_law(&book, &all).left, copied_law(&book, &all).right);
	book.slot.sent_as[WATCH_KIND_SPLICE] = 4093;
	assert_int_equal(copied_law(&book, &all).left, copied_law(&book, &all).right);
	book.slot.sent_as[WATCH_KIND_SPLICE] = 0;
	book.opened.unsent = 4093;
	assert_int_equal(copied_law(&book, &all).left, copied_law(&book, &all).right);
	/* None says COPIED. */
	book.slot.copied_sends = 0;
	assert_int_not_equal(copied_law(&book, &all).left, copied_law(&book, &all).right);
}

/* As NVMe over TCP does, which reads by tcp_read_sock and copies as it likes. */
TEST(what_the_kernel_itself_read_was_copied_only_if_a_hook_saw_that)
{
	struct watch_hooked all = trampolines(), counts = all;
	struct watch_book book = sent_as(WATCH_KIND_COPY);

	counts.rx_copies = true;
	book.now.received = BYTES;
	assert_true(knows(&book, &all, SITE_rx_copy));
	book.flags |= WATCH_IN_KERNEL;
	assert_false(knows(&book, &all, SITE_rx_copy));
	assert_true(knows(&book, &counts, SITE_rx_copy));
	book.slot.rx_discarded = BYTES;
	assert_true(knows(&book, &all, SITE_rx_copy));
	/* Nor does a tracepoint tell of skb_copy_bits(), by which it takes headers. */
	counts = tracepoints;
	book.slot.rx_discarded = 24;
	assert_false(knows(&book, &counts, SITE_rx_copy));
	book.rx_copied = BYTES - 24;
	assert_true(knows(&book, &counts, SITE_rx_copy));
}

/* The process read one before the hook looked. */
TEST(completions_are_the_least_where_notifications_came_that_nobody_saw)
{
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	assert_int_equal(filled(&book, &tracepoints).moved.unseen_completions, 0);
	book.slot.completed_sends--;
	book.slot.unseen_reports = 1;
	assert_int_equal(filled(&book, &tracepoints).moved.unseen_completions, 1);
	book.slot.unseen_reports = 0;
	book.slot.skipped_ids = 1;
	assert_int_equal(filled(&book, &tracepoints).moved.unseen_completions, 1);
}

TEST(a_copy_that_is_not_completed_yet_breaks_nothing)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	book.slot.late_copied = BYTES;
	book.slot.completed_sends = 0;
	assert_false(copied_law(&book, &all).known);
	assert_true(knows(&book, &tracepoints, SITE_late_copy));
}

TEST(spliced_pages_are_uncopied_as_far_as_a_device_had_them)
{
	struct watch_hooked onward = tracepoints, all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_SPLICE);

	fate_is(&book, &tracepoints, BYTES, 0, 0);
	book.slot.spliced_queued = BYTES;
	fate_is(&book, &tracepoints, 0, 0, BYTES);
	book.slot.spliced_handed = BYTES;
	fate_is(&book, &tracepoints, BYTES, 0, 0);
	book.slot.paths = WATCH_PATH_VIRTUAL;
	fate_is(&book, &tracepoints, BYTES, 0, 0);
	onward.no_onward = false;
	fate_is(&book, &onward, 0, 0, BYTES);
	/* Trampolines count what is copied for an XDP program. */
	book.slot.paths = WATCH_PATH_VIRTUAL | WATCH_PATH_XDP;
	fate_is(&book, &tracepoints, 0, 0, BYTES);
	fate_is(&book, &all, BYTES, 0, 0);
	book.slot.paths = WATCH_PATH_XDP;
	all.no_orphans = false;
	fate_is(&book, &all, 0, 0, BYTES);
	/* Of several devices one sum has what each was handed. */
	book.slot.paths = WATCH_PATH_VIRTUAL | WATCH_PATH_STACKED;
	book.slot.spliced_handed = book.slot.spliced_queued = 2 * BYTES;
	fate_is(&book, &tracepoints, BYTES, 0, 0);
	book.slot.spliced_handed -= 1;
	fate_is(&book, &tracepoints, 0, 0, BYTES);
	book.slot.paths = WATCH_PATH_OTHER;
	fate_is(&book, &tracepoints, 0, 0, BYTES);
}

/* Of an arrival that no program saw, spliced pages need nothing, but behind veth somebody may have handed them on. */
TEST(an_arrival_that_nobody_saw_takes_nothing_from_what_was_spliced)
{
	struct watch_hooked skipped = tracepoints;
	struct watch_book book = sent_as(WATCH_KIND_SPLICE);

	skipped.skipped = true;
	book.slot.spliced_queued = book.slot.spliced_handed = BYTES;
	fate_is(&book, &skipped, BYTES, 0, 0);
	book.slot.spliced_handed = BYTES - 1;
	fate_is(&book, &skipped, BYTES - 1, 0, 1);
	assert_int_equal(filled(&book, &skipped).moved.fate.unsure, 0);
	book.slot.paths = WATCH_PATH_VIRTUAL;
	fate_is(&book, &skipped, BYTES - 1, 0, 1);
	assert_int_equal(filled(&book, &skipped).moved.fate.unsure, BYTES - 1);
	skipped.no_onward = false;
	fate_is(&book, &skipped, 0, 0, BYTES);
}

/* Hooks of packets wait for a socket that needs them: what left before is told apart from what no device was seen to take. */
TEST(what_left_before_packets_were_watched_is_told_apart)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

	fate_is(&book, &all, 0, 0, BYTES);
	assert_int_equal(filled(&book, &all).moved.fate.unwatched, 0);
	book.slot.pages_unwatched = 1;
	book.now.unsent_referenced_bytes = 1000;
	fate_is(&book, &all, 0, 0, BYTES);
	assert_int_equal(filled(&book, &all).moved.fate.unwatched, BYTES - 1000);
	/* Behind veth the others may have been copied, as somebody handed pages on. */
	book = sent_as(WATCH_KIND_SPLICE);
	book.slot.pages_unwatched = 1;
	book.slot.paths = WATCH_PATH_VIRTUAL;
	book.slot.spliced_queued = book.slot.spliced_handed = BYTES - 1000;
	for (int onward = 0; onward < 2; onward++) {
		all = tracepoints;
		all.no_onward = !onward;
		fate_is(&book, &all, onward ? 0 : BYTES - 1000, 0, onward ? BYTES : 1000);
		assert_int_equal(filled(&book, &all).moved.fate.unwatched, 1000);
	}
}

/* What was seen to be copied was, and what was seen to be handed to a device on a bus may have been copied if its packet
 * was one of those. */
TEST(a_packet_that_nobody_saw_leaves_what_others_show)
{
	struct watch_hooked with[] = { tracepoints, trampolines() };

	for (int i = 0; i < 2; i++) {
		struct watch_book book = sent_as(WATCH_KIND_REFERENCE);

		book.slot.late_copied = BYTES - 1000;
		book.slot.copied_sends = SENDS;
		with[i].skipped = true;
		fate_is(&book, &with[i], 0, BYTES - 1000, 1000);
		assert_false(knows(&book, &with[i], SITE_late_copy));
		book.slot.late_copied = book.slot.copied_sends = 0;
		book.slot.clean = BYTES;
		fate_is(&book, &with[i], BYTES, 0, 0);
		assert_int_equal(filled(&book, &with[i]).moved.fate.unsure, BYTES);
		with[i].skipped = false;
		assert_int_equal(filled(&book, &with[i]).moved.fate.unsure, 0);
	}
}

/* Of a socket that spliced before its packets were watched, what was seen later counts, less what send copied. */
TEST(of_packets_not_watched_from_the_start_a_part_is_known)
{
	struct watch_book book = sent_as(WATCH_KIND_SPLICE);

	book.slot.sent_as[WATCH_KIND_COPY] = 1240;
	book.now.accepted += 1240;
	book.slot.since += 1240;
	book.slot.pages_unwatched = 1;
	book.slot.spliced_queued = book.slot.spliced_handed = 50000;
	fate_is(&book, &tracepoints, 50000 - 1240, 0, BYTES - 50000 + 1240);
}

TEST(a_ring_that_is_not_asked_tells_of_no_copies)
{
	struct watch_book book = sent_as(WATCH_KIND_REFERENCE);
	struct watch_socket s;

	book.now.zerocopy_sends = book.slot.completed_sends = book.slot.next_id = 0;
	book.slot.ring_used = 1;
	book.slot.ring_sends = SENDS;
	s = filled(&book, &tracepoints);
	assert_false(watch_law_sides(WATCH_LAW_completion, &s, &book, &tracepoints).known);
	book.slot.ring_notified = book.slot.ring_copied = SENDS;
	book.slot.late_copied = BYTES;
	s = filled(&book, &tracepoints);
	assert_int_equal(s.moved.count[COUNT_zerocopy_sends], SENDS);
	assert_int_equal(s.moved.count[COUNT_copied_sends], SENDS);
	assert_int_equal(copied_law(&book, &tracepoints).left, SENDS);
	book.slot.ring_silent = 1;
	s = filled(&book, &tracepoints);
	assert_false(s.moved.counts_known >> COUNT_copied_sends & 1);
	assert_false(copied_law(&book, &tracepoints).known);
	/* Its hook was attached too late. */
	book.slot.pages_unwatched = 1;
	s = filled(&book, &tracepoints);
	assert_false(s.moved.counts_known >> COUNT_zerocopy_sends & 1);
	assert_false(watch_law_sides(WATCH_LAW_completion, &s, &book, &tracepoints).known);
}

/* The receiver took BYTES. */
static struct watch_book received(uint64_t copied)
{
	struct watch_book book = {
		.cookie = 1, .slot_at = 1, .flags = WATCH_BORN, .opened.state = ESTABLISHED,
		.now = { .received = BYTES, .state = ESTABLISHED }, .rx_copied = copied,
	};

	return book;
}

static void passed_is(const struct watch_book *book, bool known, uint64_t bytes)
{
	struct watch_socket s = filled(book, &tracepoints);

	assert_int_equal(!s.moved.passed_unknown, known);
	assert_int_equal(s.moved.passed_bytes, bytes);
	assert_int_equal(s.moved.sites_known >> SITE_rx_splice & 1, known && !bytes);
}

TEST(peeks_failed_copies_and_the_error_queue_are_no_part_of_the_stream)
{
	struct watch_book book = received(BYTES + 600);

	book.slot.rx_peeked = 600;
	passed_is(&book, true, 0);
	/* Peeked, then spliced. */
	book.rx_copied = book.slot.rx_peeked = BYTES;
	passed_is(&book, true, BYTES);
	book = received(2 * BYTES);
	book.slot.rx_off = BYTES;
	passed_is(&book, true, 0);
	assert_int_equal(filled(&book, &tracepoints).moved.site[SITE_rx_copy].bytes, BYTES);
	book.slot.rx_odd = 7;
	passed_is(&book, false, 0);
	assert_false(knows(&book, &tracepoints, SITE_rx_copy));
}

/* Where each call that takes bytes without a copy tells of it, copies that no receive returned spoil nothing. */
TEST(with_trampolines_copies_are_the_rest_where_they_do_not_tell_themselves)
{
	struct watch_hooked all = trampolines();
	struct watch_book book = received(BYTES + 600);
	struct watch_socket s;

	all.rx_copies = all.calls = true;
	s = filled(&book, &all);
	assert_int_equal(s.moved.site[SITE_rx_copy].bytes, BYTES + 600);
	assert_int_equal(s.moved.copies_derived, 0);
	book.slot.rx_odd = 600;
	book.slot.rx_spliced = 100;
	s = filled(&book, &all);
	assert_true(s.moved.sites_known >> SITE_rx_copy & 1);
	assert_int_equal(s.moved.site[SITE_rx_copy].bytes, BYTES - 100);
	assert_int_equal(s.moved.copies_derived, 1);
	assert_false(watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &all).known);
}

/* A sockmap moves the sequence number as a receive does. */
TEST(what_a_sockmap_may_have_taken_was_not_returned_for_sure)
{
	struct watch_hooked seen = tracepoints;
	struct watch_book book = received(BYTES);

	seen.no_sockmaps = false;
	assert_true(filled(&book, &seen).moved.counts_known >> COUNT_returned_bytes & 1);
	book.rx_copied -= 600;
	assert_false(filled(&book, &seen).moved.counts_known >> COUNT_returned_bytes & 1);
	assert_true(filled(&book, &tracepoints).moved.counts_known >> COUNT_returned_bytes & 1);
}

TEST(an_urgent_byte_that_nobody_read_is_not_called_spliced)
{
	struct watch_book book = received(BYTES - 1);

	passed_is(&book, true, 1);
	book.now.urgent_seq = 77;
	passed_is(&book, false, 0);
}

TEST(a_layer_above_tcp_hides_every_copy)
{
	struct watch_book book = sent_as(WATCH_KIND_SPLICE);
	struct watch_sum sum = watch_sum_of_nothing();
	struct watch_socket s;

	book.layers = 1u << WATCH_LAYER_SOCKMAP | 1u << WATCH_LAYER_KTLS;
	s = filled(&book, &tracepoints);
	assert_int_equal(s.layer, WATCH_LAYER_KTLS);
	assert_int_equal(s.moved.sites_known, 0);
	for (enum watch_law law = 0; law < WATCH_LAW_probes; law++)
		assert_false(watch_law_sides(law, &s, &book, &tracepoints).known);
	watch_sum_add(&sum, &s);
	assert_int_equal(sum.other[WATCH_LAYER_KTLS].sent_bytes, BYTES);
	assert_int_equal(sum.moved.count[COUNT_accepted_bytes], 0);
	assert_true(sum.moved.sites_known >> SITE_tx_copy & 1);
	/* Sequence numbers that the program sets are no bytes that moved. */
	book.layers = 1u << WATCH_LAYER_REPAIR;
	s = filled(&book, &tracepoints);
	assert_int_equal(s.moved.count[COUNT_accepted_bytes], 0);
}
