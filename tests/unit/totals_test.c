// SPDX-License-Identifier: GPL-2.0
/* Totals are taken from an end that tells them whole, and from none that lies. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/common/json.h"
#include "userspace/run/ends/app_totals.h"

static const char counts[] =
	"{\"messages\": 23, \"accepted_bytes\": 94139, \"received_bytes\": 0, \"gather_bytes\": 0, "
	"\"zerocopy_sends\": 23, \"completions\": 23, \"completions_copied\": 23, \"enobufs\": 0, \"map_calls\": 0, "
	"\"content_errors\": null, \"tcp_accepted_bytes\": 94139, \"tcp_returned_bytes\": 0, "
	"\"tcp_retransmitted_bytes\": null}";

/* Totals of one connection. */
static json_t *good(void)
{
	json_t *o = json_loads(counts, 0, NULL), *connection = json_loads(counts, 0, NULL);

	put(connection, "cookie", json_string("7"));
	put(connection, "local", json_string("10.0.0.1:9000"));
	put(connection, "remote", json_string("10.0.0.2:4711"));
	put(o, "elapsed_ns", json_integer(12345));
	put(o, "stopped_by", json_null());
	put(o, "complaint", json_null());
	put(o, "latency_ns", json_pack("{s:s, s:i, s:i, s:f}", "what", "round trip", "mean", 2500, "p50", 2000,
				       "p99", 9e3));
	put(o, "connections", json_pack("[o]", connection));
	return o;
}

/* Takes @o over. */
static int parse(json_t *o, struct app_totals *totals)
{
	struct child child = { .pid = 4, .text = json_dumps(o, 0) };
	int err;

	child.length = strlen(child.text);
	err = app_totals_parse(&child, totals);
	json_decref(o);
	free(child.text);
	return err;
}

TEST(whole_totals_are_taken)
{
	struct app_totals t;

	assert_int_equal(parse(good(), &t), 0);
	assert_true(t.known && t.completions_read && t.content_unchecked && t.latency.known);
	assert_int_equal(t.pid, 4);
	assert_int_equal(t.sum.accepted_bytes, 94139);
	assert_int_equal(t.socket_count, 1);
	assert_int_equal(t.sockets[0].cookie, 7);
	assert_string_equal(t.sockets[0].local, "10.0.0.1:9000");
	assert_true(t.latency.p99_us == 9);
	free(t.sockets);
}

static void refuse(const char *key, json_t *value)
{
	json_t *o = good();
	struct app_totals t;

	assert_non_null(json_object_get(o, key));
	put(o, key, value);
	if (parse(o, &t) != -EINVAL || t.known || t.sockets)
		fail_msg("totals were taken in spite of their %s", key);
}

TEST(totals_of_a_liar_are_not)
{
	json_t *many = json_array(), *none = json_object();

	for (int i = 0; i <= PLAN_THREADS_MAX; i++)
		json_array_append(many, none);
	json_decref(none);
	refuse("connections", many);
	refuse("connections", json_pack("[{}]"));
	refuse("accepted_bytes", json_integer(-1));
	refuse("accepted_bytes", json_integer((1ll << 53) + 1));
	refuse("messages", json_string("23"));
	refuse("elapsed_ns", json_integer(INT64_MAX));
	refuse("stopped_by", json_integer(65));
	refuse("complaint", json_string("\x1b[2J"));
	refuse("latency_ns", json_pack("{s:s, s:f, s:i, s:i}", "what", "round trip", "mean", 1e300, "p50", 1, "p99", 1));
}

/* Two blocks; the machine's clocks were hidden. */
static json_t *alternating(const char *column, json_t *value)
{
	json_t *o = good(), *a = json_pack("{s:i, s:[ii], s:[ii], s:[ii], s:[ii], s:n, s:n, s:[ii]}", "block_bytes",
					   4096, "way", 1, 0, "wall_ns", 5, 6, "sender_ns", 3, 4, "receiver_ns", 1, 2,
					   "machine_ns", "ksoftirqd_ns", "lost_bytes", 0, 0);

	if (column)
		put(a, column, value);
	put(o, "alternation", a);
	return o;
}

TEST(blocks_are_taken_column_by_column)
{
	struct app_totals t;

	assert_int_equal(parse(alternating(NULL, NULL), &t), 0);
	assert_int_equal(t.block_count, 2);
	assert_int_equal(t.block_bytes, 4096);
	assert_int_equal(t.blocks[0].way, 1);
	assert_int_equal(t.blocks[1].wall_ns, 6);
	assert_int_equal(t.blocks[1].receiver_ns, 2);
	assert_false(t.machine_known || t.ksoftirqd_known);
	free(t.sockets);
	free(t.blocks);
}

TEST(blocks_of_a_liar_are_not)
{
	static const char *const columns[] = { "way", "wall_ns", "sender_ns", "lost_bytes" };
	struct app_totals t;

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		assert_int_equal(parse(alternating(columns[i], json_pack("[i]", 1)), &t), -EINVAL);
		assert_int_equal(parse(alternating(columns[i], json_null()), &t), -EINVAL);
	}
	assert_int_equal(parse(alternating("way", json_pack("[ii]", 1, 8)), &t), -EINVAL);
	assert_int_equal(parse(alternating("wall_ns", json_pack("[is]", 1, "2")), &t), -EINVAL);
	assert_null(t.blocks);
}

TEST(what_is_no_document_is_none)
{
	struct app_totals t;

	assert_int_equal(app_totals_parse(&(struct child){ .pid = 4 }, &t), -EINVAL);
	assert_int_equal(parse(json_array(), &t), -EINVAL);
	assert_int_equal(t.pid, 4);
}
