// SPDX-License-Identifier: GPL-2.0
/* Processes that are gone are folded and keep no part of a sum; sums that lack something say so. */
#include <string.h>

#include "tests/unit/unit.h"
#include "tests/unit/watch_hooks.h"
#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/books/watch_judge.h"

/* The book of a socket that accepted and sent so much since the window opened. */
static struct watch_book sent(unsigned int bytes)
{
	struct watch_book book = {
		.cookie = 1, .slot_at = 1, .opened = { .accepted = 1000, .sent = 1000, .state = 1 },
		.slot = { .since = 1000 },
	};

	book.now = book.opened;
	book.now.accepted += bytes;
	book.now.sent += bytes;
	return book;
}

static void process_ends(struct watch_tally *tally, unsigned int pid, struct watch_book *book, bool moved)
{
	struct watch_member member = { .task = { .tgid = pid, .started_ns = 7 * pid }, .ended_ns = pid };

	book->owner = member.task;
	if (moved)
		assert_int_equal(watch_tally_death(tally, book, &all_hooks), 0);
	assert_int_equal(watch_tally_gone(tally, &member), 0);
}

TEST(test_processes_that_are_gone_are_folded_into_the_total)
{
	struct watch_record r = {};
	struct watch_tally tally;
	struct watch_book book = sent(30);

	watch_tally_begin(&tally, 2);
	book.flags = WATCH_DIED;
	/* Each fold leaves two: those that moved bytes, and of the others those that ended last. */
	process_ends(&tally, 1, &book, true);
	process_ends(&tally, 2, &book, false);
	process_ends(&tally, 3, &book, true);
	process_ends(&tally, 4, &book, true);
	assert_int_equal(tally.folded_processes, 2);
	assert_int_equal(tally.gone_count, 2);
	/* A socket of one that was folded dies later: no process has a part of its sum. */
	book.owner = (struct watch_task){ .tgid = 1, .started_ns = 7 };
	assert_int_equal(watch_tally_death(&tally, &book, &all_hooks), 0);
	assert_int_equal(watch_tally_read(&tally, NULL, 0, false, &r), 0);
	assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 120);
	assert_int_equal(r.process_count, 2);
	assert_int_equal(r.folded_processes, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r.processes[i].id.pid, 3 + i);
		assert_int_equal(r.processes[i].sum.moved.count[COUNT_accepted_bytes], 30);
	}
	watch_record_free(&r);
	watch_tally_free(&tally);
}

/* A process with a socket that died. */
static void process_used(struct watch_tally *tally, unsigned int pid, struct watch_book *book)
{
	book->owner = (struct watch_task){ .tgid = pid, .started_ns = 7 };
	assert_int_equal(watch_tally_death(tally, book, &all_hooks), 0);
}

TEST(test_a_watch_of_everything_keeps_few_processes_without_sockets)
{
	enum { KEPT = 2, ALL = 100 };
	struct watch_tally tally;
	struct watch_book book = sent(30), many = sent(3000);
	struct watch_socket open;
	struct watch_record r;

	watch_tally_begin(&tally, KEPT);
	tally.forgets = true;
	book.flags = many.flags = WATCH_DIED;
	process_used(&tally, 5, &many);
	for (unsigned int pid = 10; pid < 10 + ALL; pid++)
		process_used(&tally, pid, &book);
	book.flags = 0;
	watch_tally_open(&tally, &open, &book, &all_hooks);
	/* The first reading tells of all of them, as each did something; the last one's socket is open. */
	for (int reading = 0; reading < 3; reading++) {
		r = (struct watch_record){};
		assert_int_equal(watch_tally_read(&tally, &open, 1, false, &r), 0);
		assert_int_equal(r.process_count, reading < 2 ? 1 + ALL : KEPT + 1);
		assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 3000 + 30 * (ALL + 1));
		if (reading == 2)
			assert_int_equal(r.folded_processes, 1 + ALL - KEPT - 1);
		watch_record_free(&r);
	}
	/* One that comes back has what it does from then on. */
	book.flags = WATCH_DIED;
	process_used(&tally, 10, &book);
	r = (struct watch_record){};
	assert_int_equal(watch_tally_read(&tally, &open, 1, false, &r), 0);
	assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 3000 + 30 * (ALL + 2));
	watch_record_free(&r);
	watch_tally_free(&tally);
}

/* The calls of two were not counted; the third is repaired. */
TEST(test_a_reason_is_told_of_the_sockets_that_have_it)
{
	struct watch_book plain = { .cookie = 1, .slot_at = 1 }, repaired = plain;
	struct watch_socket open[3];
	struct watch_hooked hooked = {};
	struct watch_record r = {};
	struct watch_tally t;

	repaired.layers = 1 << WATCH_LAYER_REPAIR;
	watch_tally_begin(&t, 0);
	for (int i = 0; i < 3; i++)
		watch_tally_open(&t, &open[i], i ? &plain : &repaired, &hooked);
	assert_int_equal(watch_tally_read(&t, open, 3, false, &r), 0);
	assert_string_equal(r.laws[WATCH_LAW_sends].why, "not testable for 3 of 3 sockets: calls are counted with --books "
			    "calls alone (2 of them; others for other reasons)");
	watch_record_free(&r);
	watch_tally_free(&t);
}

TEST(test_what_nobody_opened_is_in_no_sum)
{
	struct watch_record r = {};
	struct watch_tally tally;
	struct watch_book book = sent(30);
	struct watch_socket open;

	watch_tally_begin(&tally, 0);
	book.flags = WATCH_UNOPENED | WATCH_TORN;
	watch_tally_open(&tally, &open, &book, &all_hooks);
	assert_false(open.laws[WATCH_LAW_send_queue].known);
	assert_int_equal(watch_tally_read(&tally, &open, 1, false, &r), 0);
	assert_int_equal(r.unopened_sockets, 1);
	assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 0);
	assert_true(r.total.moved.counts_known & 1ull << COUNT_accepted_bytes);
	assert_false(r.processes[0].sum.moved.counts_known);
	assert_false(r.processes[0].sum.moved.sites_known);
	watch_record_free(&r);
	watch_tally_free(&tally);
}

TEST(test_what_came_before_its_hooks_is_in_no_sum)
{
	struct watch_record r = {};
	struct watch_tally tally;
	struct watch_book book = sent(30);
	struct watch_hooked hooked = all_hooks;
	struct watch_socket open[2];

	hooked.datagrams = true;
	watch_tally_begin(&tally, 0);
	book.flags |= WATCH_DATAGRAMS | WATCH_LATE;
	book.slot.sends_returned = 30;
	watch_tally_open(&tally, &open[0], &book, &hooked);
	book.flags |= WATCH_UNOPENED;
	book.cookie++;
	watch_tally_open(&tally, &open[1], &book, &hooked);
	assert_string_equal(open[1].laws[WATCH_LAW_sends].why, "its hooks were attached after it was made");
	assert_int_equal(watch_tally_read(&tally, open, 2, false, &r), 0);
	assert_int_equal(r.unopened_sockets, 2);
	assert_int_equal(r.total.moved.count[COUNT_accepted_bytes], 30);
	watch_record_free(&r);
	watch_tally_free(&tally);
}

TEST(test_sums_say_why_they_are_short)
{
	struct watch_record r = {};
	char why[WHY_BYTES];

	r.laws[WATCH_LAW_probes].status = LAW_BALANCED;
	assert_false(watch_sums_short(&r, why));
	assert_string_equal(why, "");
	r.laws[WATCH_LAW_probes].status = LAW_NOT_TESTABLE;
	strcpy(r.laws[WATCH_LAW_probes].why, "for a reason");
	assert_true(watch_sums_short(&r, why));
	assert_string_equal(why, "for a reason");
	r.lost_events = 21;
	r.lost_ends = 6;
	r.lost_members = 7;
	r.unbooked_sockets = 2;
	r.unopened_sockets = 3;
	r.unseen_events = 4;
	assert_true(watch_sums_short(&r, why));
	assert_non_null(strstr(why, "6 ends of sockets found no room"));
	assert_non_null(strstr(why, "; 7 processes found"));
	assert_non_null(strstr(why, "; 8 counts found no room"));
	assert_non_null(strstr(why, "; 2 sockets"));
	assert_non_null(strstr(why, "; 3 sockets lay"));
	assert_non_null(strstr(why, "; 4 ends"));
}
