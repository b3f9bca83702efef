// SPDX-License-Identifier: GPL-2.0
/* Urgent bytes that receives skip are in no copy, and in each law of receives or in none. */
#include "tests/unit/unit.h"
#include "tests/unit/watch_hooks.h"
#include "userspace/watch/books/books_socket.h"

/* 7 bytes were unread when the window opened and 300 came; an urgent one was skipped, and 306 were read. */
static struct watch_book received(void)
{
	struct watch_book book = {
		.cookie = 1, .slot_at = 1, .owner = { .tgid = 5, .started_ns = 6 },
		.opened = { .received = 500, .unread = 7, .state = 1 }, .flags = WATCH_BORN | WATCH_DIED,
		.slot = { .recvs_returned = 306, .rx_settled = 306 }, .rx_copied = 306,
	};

	book.now = book.opened;
	book.now.received = 800;
	book.now.unread = 0;
	book.now.urgent_seq = 77;
	return book;
}

TEST(test_an_urgent_byte_that_nobody_read_breaks_no_law_of_receives)
{
	struct watch_book book = received();
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;

	hooked.calls = hooked.no_sockmaps = true;
	for (int with_trampolines = 0; with_trampolines < 2; with_trampolines++) {
		hooked.rx_calls = hooked.trampolines = with_trampolines;
		watch_socket_fill(&s, &book, &hooked);
		assert_false(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
	}
	book.now.urgent_seq = 0;
	watch_socket_fill(&s, &book, &hooked);
	assert_true(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
	/* It came before the window, and is skipped in it. */
	book.opened.urgent_due = 1;
	watch_socket_fill(&s, &book, &hooked);
	assert_false(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
	assert_false(watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &hooked).known);
}

/* Of 800 bytes 3 were skipped, of which 2 were read out of turn. */
TEST(test_urgent_bytes_that_a_hook_counted_are_in_no_copy_and_in_each_law_of_receives)
{
	struct watch_book book = received();
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;
	struct watch_sides sides;

	hooked.calls = hooked.rx_calls = hooked.trampolines = hooked.urgent = true;
	book.urgent = (struct watch_urgent){ .skipped = 3, .read = 2 };
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(s.moved.count[COUNT_returned_bytes], 306);
	sides = watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked);
	assert_true(sides.known && sides.left == sides.right);
	sides = watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &hooked);
	assert_true(sides.known && sides.left == sides.right);
	/* The same without the hook of each copy, which then is the rest. */
	hooked.rx_copies = false;
	book.rx_copied = 0;
	watch_socket_fill(&s, &book, &hooked);
	assert_int_equal(s.moved.site[SITE_rx_copy].bytes, 306);
	/* It left the queue while SO_OOBINLINE changed. */
	book.urgent.unsure = 1;
	watch_socket_fill(&s, &book, &hooked);
	assert_false(s.moved.sites_known & 1u << SITE_rx_copy);
	assert_false(s.moved.counts_known >> COUNT_returned_bytes & 1);
	assert_false(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
}

/* Nothing was returned, and the byte that was unread is gone: a receive skipped it, or returned it before its turn. */
TEST(test_an_urgent_byte_that_left_alone_breaks_no_law_of_receives)
{
	struct watch_book book = received();
	struct watch_hooked hooked = all_hooks;
	struct watch_socket s;

	hooked.calls = hooked.rx_calls = hooked.trampolines = hooked.urgent = true;
	book.slot.recvs_returned = book.slot.rx_settled = book.rx_copied = 0;
	book.opened.unread = book.opened.urgent_due = 1;
	book.now.received = book.opened.received;
	book.urgent.unsure = 1;
	watch_socket_fill(&s, &book, &hooked);
	assert_false(watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &hooked).known);
	assert_false(watch_law_sides(WATCH_LAW_receives, &s, &book, &hooked).known);
	/* A hook saw a receive skip it. */
	book.urgent = (struct watch_urgent){ .skipped = 1 };
	watch_socket_fill(&s, &book, &hooked);
	assert_true(watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &hooked).known);
	/* Nothing took it. */
	book.urgent.skipped = 0;
	watch_socket_fill(&s, &book, &hooked);
	assert_true(watch_law_sides(WATCH_LAW_receive_queue, &s, &book, &hooked).left == 1);
}
