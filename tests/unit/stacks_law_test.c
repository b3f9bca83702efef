// SPDX-License-Identifier: GPL-2.0
/* The law of stacks balances, breaks by one byte, and says for which sockets it cannot be tested; frames have names. */
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/record/user_stacks.h"
#include "userspace/watch/books/watch_judge.h"

enum { SENT = 94139, TAKEN = 7919, PEEKED = 101 };

static struct watch_socket socket;
static struct call_stack stacks[2];
static struct watch_record record;

/* One socket, of which two stacks have all. */
static struct watch_record *made(void)
{
	socket = (struct watch_socket){
		.moved.counts_known = ~0ull, .stacked_bytes = SENT + TAKEN, .unstacked_bytes = PEEKED,
		.laws = { [WATCH_LAW_sends].known = true, [WATCH_LAW_receives].known = true },
		.moved.count = { [COUNT_accepted_bytes] = SENT, [COUNT_returned_bytes] = TAKEN,
				 [COUNT_peeked_bytes] = PEEKED },
	};
	stacks[0] = (struct call_stack){ .site = SITE_tx_copy, .bytes = SENT, .calls = 23 };
	stacks[1] = (struct call_stack){ .site = SITE_rx_copy, .bytes = TAKEN, .calls = 1 };
	record = (struct watch_record){
		.sockets = &socket, .socket_count = 1, .stacks = { .stacks = stacks, .stack_count = 2 },
		.total = { .stacked_bytes = SENT + TAKEN, .unstacked_bytes = PEEKED },
	};
	return &record;
}

/* The only law that is tested. */
static const struct law *stacks_law(const struct watch_record *r)
{
	return &r->laws[0];
}

static void weigh_stacks(struct watch_record *r)
{
	r->law_count = 0;
	watch_stacks_weigh(r);
}

TEST(what_stacks_hold_is_what_sockets_moved)
{
	struct watch_record *r = made();

	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BALANCED);
	assert_int_equal(stacks_law(r)->left, SENT + TAKEN + PEEKED);
	assert_int_equal(stacks_law(r)->residual, 0);
	assert_int_equal(watch_laws_broken(r), 0);
}

TEST(a_byte_that_the_table_lost_breaks_it)
{
	struct watch_record *r = made();

	stacks[0].bytes--;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BROKEN);
	assert_int_equal(stacks_law(r)->residual, 1);
	assert_int_equal(watch_laws_broken(r), 1);
}

/* Samples may miss by their error, and not by more: of 1,200 gaps, and one on each of two processors, that is
 * 4 * 64 * sqrt(1200 / 12 + 2) bytes, 2,585. */
TEST(samples_balance_within_their_error_alone)
{
	struct watch_record *r = made();

	r->stack_every = 64;
	r->machine.cpus = 2;
	stacks[0].calls = 1200 - stacks[1].calls;
	stacks[0].bytes = SENT + 2585;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BALANCED);
	stacks[0].bytes = SENT - 2586;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BROKEN);
	stacks[0].bytes = SENT + 2586;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_NOT_TESTABLE);
}

TEST(a_byte_that_a_call_moved_unseen_breaks_it)
{
	struct watch_record *r = made();

	socket.moved.count[COUNT_accepted_bytes]++;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BROKEN);
	assert_non_null(strstr(stacks_law(r)->why, "broken for 1 of 1"));
}

TEST(a_call_under_way_cannot_be_tested)
{
	struct watch_record *r = made();

	socket.moved.count[COUNT_returned_bytes]++;
	socket.laws[WATCH_LAW_receives] = (struct watch_sides){ .why = "a call may have been under way" };
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_NOT_TESTABLE);
	assert_non_null(strstr(stacks_law(r)->why, "under way"));
}

TEST(what_left_as_pages_is_on_no_stack_by_tracepoints_and_explains_no_other_byte)
{
	struct watch_record *r = made();

	socket.moved.count[COUNT_returned_bytes] += 300;
	socket.moved.passed_bytes = 300;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_NOT_TESTABLE);
	assert_non_null(strstr(stacks_law(r)->why, "spliced out or mapped"));
	socket.moved.passed_bytes = 299;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BROKEN);
	/* With trampolines the calls are known. */
	socket.moved.passed_bytes = 300;
	socket.moved.sites_known = 1u << SITE_rx_splice;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_BROKEN);
}

TEST(what_was_not_measured_cannot_be_tested)
{
	struct watch_record *r = made();

	socket.moved.counts_known &= ~(1ull << COUNT_returned_bytes);
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_NOT_TESTABLE);
	assert_non_null(strstr(stacks_law(r)->why, "not measured"));
}

TEST(calls_on_sockets_of_others_cannot_be_tested)
{
	struct watch_record *r = made();

	stacks[1].bytes += 31;
	weigh_stacks(r);
	assert_int_equal(stacks_law(r)->status, LAW_NOT_TESTABLE);
	assert_non_null(strstr(stacks_law(r)->why, "31 bytes by sockets of others"));
}

TEST(a_stack_has_the_site_of_its_calls)
{
	assert_string_equal(call_stack_site(&(struct call_stack){ .site = SITE_rx_map }), "rx_map");
	assert_string_equal(call_stack_site(&(struct call_stack){ .site = WATCH_ACCEPTED }), "accepted");
	assert_string_equal(call_stack_site(&(struct call_stack){ .site = WATCH_RETURNED }), "returned");
}
