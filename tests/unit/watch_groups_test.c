// SPDX-License-Identifier: GPL-2.0
/* Sums by remote peer and by local port are right with any number of closed sockets. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tests/unit/watch_hooks.h"
#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/report/interval_json.h"
#include "userspace/watch/view.h"

enum { PEERS = 3, CLOSED = 1500, BYTES = 10, KEPT = 1000 };

/* A socket of port 80 or 81 that sent ten bytes to one of many peers. */
static struct watch_book book_to(unsigned int peer, uint64_t cookie)
{
	return (struct watch_book){
		.cookie = cookie, .slot_at = 1, .flags = WATCH_BORN, .addresses_known = 1,
		.remote_ip = { 0, 0, 0xffff0000, 10 | peer << 8 }, .local_port = 80 + cookie % 2,
		.remote_port = 40000, .now = { .accepted = BYTES, .sent = BYTES },
		.slot = { .since = 0 },
	};
}

static void die(struct watch_tally *t, unsigned int peer, uint64_t cookie)
{
	struct watch_book book = book_to(peer, cookie);

	book.flags |= WATCH_CLOSED | WATCH_DIED;
	book.closed = book.now;
	book.slot.sent_as[WATCH_KIND_COPY] = BYTES;
	assert_int_equal(watch_tally_death(t, &book, &all_hooks), 0);
}

static void expect_rows(const struct watch_record *r, enum watch_rows what, bool lately, int count,
			uint64_t sockets)
{
	struct rows rows;

	assert_int_equal(rows_make(r, what, ROWS_BY_NAME, lately, &rows), 0);
	assert_int_equal(rows.count, count);
	for (int i = 0; i < count; i++) {
		assert_int_equal(rows.row[i].sockets, sockets / count);
		assert_int_equal(rows.row[i].moved.count[COUNT_accepted_bytes], sockets / count * BYTES);
		assert_true(rows.row[i].moved.sites_known & 1u << SITE_tx_copy);
	}
	rows_free(&rows);
}

TEST(closed_sockets_beyond_those_that_are_kept_are_in_the_sums_of_their_peers)
{
	struct watch_record r = {};
	struct watch_tally t;

	watch_tally_begin(&t, KEPT);
	for (int i = 0; i < CLOSED; i++)
		die(&t, i % PEERS, i + 1);
	assert_int_equal(watch_tally_read(&t, NULL, 0, false, &r), 0);
	assert_int_equal(r.socket_count, KEPT);
	expect_rows(&r, ROWS_PEERS, false, PEERS, CLOSED);
	expect_rows(&r, ROWS_PORTS, false, 2, CLOSED);
	expect_rows(&r, ROWS_PEERS, true, PEERS, CLOSED);
	watch_record_free(&r);
	/* Since that reading nothing moved, and no socket was open. */
	assert_int_equal(watch_tally_read(&t, NULL, 0, false, &r), 0);
	expect_rows(&r, ROWS_PEERS, false, PEERS, CLOSED);
	expect_rows(&r, ROWS_PEERS, true, 0, 0);
	expect_rows(&r, ROWS_SOCKETS, true, 0, 0);
	expect_rows(&r, ROWS_PROCESSES, true, 0, 0);
	watch_record_free(&r);
	watch_tally_free(&t);
}

TEST(an_open_socket_is_in_the_sum_of_one_reading_only_once)
{
	struct watch_book book = book_to(1, 9999);
	struct watch_record r = {};
	struct watch_socket open;
	struct watch_tally t;

	watch_tally_begin(&t, KEPT);
	die(&t, 1, 9997);
	for (int i = 0; i < 3; i++) {
		watch_tally_open(&t, &open, &book, &all_hooks);
		assert_int_equal(watch_tally_read(&t, &open, 1, false, &r), 0);
		expect_rows(&r, ROWS_PEERS, false, 1, 2);
		assert_int_equal(r.groups[WATCH_BY_PEER].group[0].sockets_lately, i ? 1 : 2);
		assert_int_equal(r.total.sockets_lately, i ? 1 : 2);
		watch_record_free(&r);
	}
	watch_tally_free(&t);
}

TEST(of_an_interval_the_first_rows_are_told_and_the_number_of_the_others)
{
	struct watch_record r = {};
	struct watch_tally t;
	json_t *told, *rows;

	watch_tally_begin(&t, KEPT);
	for (int i = 0; i < CLOSED; i++)
		die(&t, i % PEERS, i + 1);
	assert_int_equal(watch_tally_read(&t, NULL, 0, false, &r), 0);
	told = interval_json(&r, ROWS_PORTS, ROWS_BY_NAME, 1, false);
	rows = json_object_get(told, "rows");
	assert_int_equal(json_array_size(rows), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "name")), "port 80");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "sent_bytes")), CLOSED / 2 * BYTES);
	assert_int_equal(json_integer_value(json_object_get(told, "further")), 1);
	json_decref(told);
	watch_record_free(&r);
	watch_tally_free(&t);
}

TEST(what_rows_are_made_of_is_told_if_that_is_asked_for)
{
	struct watch_tally t;
	struct watch_record r = { .window_ns = 1, .lately_ns = 1 };
	json_t *told, *row;

	watch_tally_begin(&t, KEPT);
	for (int i = 0; i < PEERS; i++)
		die(&t, i, i + 1);
	assert_int_equal(watch_tally_read(&t, NULL, 0, false, &r), 0);
	told = interval_json(&r, ROWS_PEERS, ROWS_BY_NAME, 1, true);
	row = json_array_get(json_object_get(told, "rows"), 0);
	assert_non_null(json_object_get(row, "sites"));
	assert_non_null(json_object_get(row, "causes"));
	assert_int_equal(json_array_size(json_object_get(told, "sockets")), PEERS);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(told, "sockets"), 0),
							      "local")), "[::]:80");
	assert_null(json_object_get(told, "sizes"));
	json_decref(told);
	watch_record_free(&r);
	watch_tally_free(&t);
}

TEST(keys_of_a_live_view_choose_rows_order_and_how_much_is_told)
{
	struct view v = {};

	assert_int_equal(view_key(&v, '/'), VIEW_DRAW);
	assert_int_equal(view_key(&v, '+'), VIEW_DRAW);
	assert_true(v.every && v.detail);
	assert_int_equal(view_key(&v, 27), VIEW_DRAW);
	assert_int_equal(view_key(&v, '-'), VIEW_DRAW);
	assert_false(v.every || v.detail || v.paused);
	assert_int_equal(view_key(&v, ' '), VIEW_DRAW);
	assert_true(v.paused);
	assert_int_equal(view_key(&v, 'a'), VIEW_DRAW);
	assert_int_equal(v.order, ROWS_BY_AVOIDABLE);
	assert_int_equal(view_key(&v, 'r'), VIEW_DRAW);
	assert_int_equal(v.rows, ROWS_PEERS);
	assert_int_equal(view_key(&v, 'Z'), VIEW_NOTHING);
	assert_int_equal(view_key(&v, 'q'), VIEW_QUIT);
}

TEST(peers_beyond_what_is_told_apart_are_one_row_that_says_so)
{
	enum { MORE = 7 };
	const struct watch_groups *peers;
	struct watch_record r = {};
	struct watch_tally t;
	struct rows rows;
	uint64_t sent = 0;

	watch_tally_begin(&t, 1);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < WATCH_PEERS_MAX + MORE; i++)
			die(&t, i, i + 1);
	assert_int_equal(watch_tally_read(&t, NULL, 0, false, &r), 0);
	peers = &r.groups[WATCH_BY_PEER];
	assert_int_equal(peers->count, WATCH_PEERS_MAX + 1);
	assert_true(peers->group[WATCH_PEERS_MAX].further);
	assert_int_equal(peers->group[WATCH_PEERS_MAX].sockets, 2 * MORE);
	for (int i = 0; i < peers->count; i++)
		sent += peers->group[i].moved.count[COUNT_accepted_bytes];
	assert_int_equal(sent, r.total.moved.count[COUNT_accepted_bytes]);
	assert_int_equal(rows_make(&r, ROWS_PEERS, ROWS_BY_COPIED, false, &rows), 0);
	assert_string_equal(rows.row[0].name, "");
	rows_free(&rows);
	watch_record_free(&r);
	watch_tally_free(&t);
}

TEST(what_a_layer_carried_is_in_no_sum_of_a_peer)
{
	struct watch_book book = book_to(1, 1);
	struct watch_record r = {};
	struct watch_socket open;
	struct watch_tally t;

	book.layers = 1u << WATCH_LAYER_KTLS;
	watch_tally_begin(&t, 1);
	watch_tally_open(&t, &open, &book, &all_hooks);
	assert_int_equal(watch_tally_read(&t, &open, 1, false, &r), 0);
	assert_int_equal(r.groups[WATCH_BY_PEER].group[0].other_sockets, 1);
	assert_int_equal(r.groups[WATCH_BY_PEER].group[0].moved.count[COUNT_accepted_bytes], 0);
	watch_record_free(&r);
	watch_tally_free(&t);
}

/* A token is the number of an MPTCP socket in its namespace. */
TEST(test_subflows_are_added_up_by_token)
{
	struct watch_socket sockets[] = {
		{ .netns = 1, .mptcp_token = 7, .moved.count = { [COUNT_accepted_bytes] = 94139 } },
		{ .netns = 1, .moved.count = { [COUNT_accepted_bytes] = 5 } },
		{ .netns = 2, .mptcp_token = 7, .moved.count = { [COUNT_accepted_bytes] = 1 } },
		{ .netns = 1, .mptcp_token = 7, .moved.count = { [COUNT_accepted_bytes] = 4093,
								 [COUNT_returned_bytes] = 777 } },
	};
	const struct watch_record r = { .sockets = sockets, .socket_count = 4 };
	struct watch_mptcp *all;

	assert_int_equal(watch_mptcp_sums(&r, &all), 2);
	assert_int_equal(all[0].subflows, 2);
	assert_int_equal(all[0].sent_bytes, 98232);
	assert_int_equal(all[0].received_bytes, 777);
	assert_int_equal(all[1].netns, 2);
	assert_int_equal(all[1].subflows, 1);
	free(all);
}
