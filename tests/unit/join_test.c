// SPDX-License-Identifier: GPL-2.0
/* Two halves come to one record: through JSON, with cookies that collide, and judged as one. */
#include "tests/unit/made_half.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "userspace/common/json_read.h"
#include "userspace/judge/causes.h"
#include "userspace/peer/join.h"
#include "userspace/report/record_json.h"

/* As the near half reads what came over the channel; takes @half over. */
static int read_over(json_t *half, enum end end, const struct workload_plan *plan, struct record *r)
{
	char *text = json_line(half);
	json_t *o = printable_object(text, strlen(text));
	int err = o ? half_read(o, end, plan, r) : -EBADMSG;

	json_decref(o);
	free(text);
	return err;
}

/* What the other host makes of it. */
static struct record *sent_over(struct made *m, enum end end)
{
	struct record *r = calloc(1, sizeof(*r));

	assert_int_equal(read_over(made_half_json(m, end), end, &m->r.experiment->plan, r), 0);
	return r;
}

static struct record *joined(void (*damage)(struct made *sender, struct made *receiver))
{
	struct made sender, receiver;
	struct record *r, *far;

	made_half(&sender, END_SENDER);
	made_half(&receiver, END_RECEIVER);
	if (damage)
		damage(&sender, &receiver);
	r = sent_over(&sender, END_SENDER);
	far = sent_over(&receiver, END_RECEIVER);
	assert_int_equal(join_halves(r, far), 0);
	causes_fill(r);
	laws_fill(r);
	return r;
}

static enum law_status status_of(const struct record *r, const char *name)
{
	for (int i = 0; i < r->law_count; i++)
		if (!strcmp(r->laws[i].name, name))
			return r->laws[i].status;
	fail_msg("no law is called %s", name);
	return LAW_BROKEN;
}

static void drop_record(struct record *r)
{
	record_free(r);
	free(r);
}

TEST(two_whole_halves_balance_though_their_cookies_collide)
{
	struct record *r = joined(NULL);

	assert_int_equal(laws_broken(r->laws, r->law_count), 0);
	for (int i = 0; i < r->law_count; i++)
		assert_int_equal(r->laws[i].status, strcmp(r->laws[i].name, "passes") ?
							    LAW_BALANCED : LAW_NOT_TESTABLE);
	assert_int_equal(r->derived.socket_count, 2 * FLOWS);
	assert_int_equal(r->sites[SITE_rx_copy].tally.bytes, made_bytes(0) + made_bytes(1));
	for (int i = 0; i < 2 * FLOWS; i++) {
		enum end end;

		assert_non_null(record_app_socket(r, &r->derived.sockets[i], &end));
		assert_int_equal(end, r->derived.sockets[i].host);
	}
	drop_record(r);
}

static void lose_a_byte(struct made *sender, struct made *receiver)
{
	receiver->r.derived.total.count[COUNT_returned_bytes]--;
	receiver->sockets[0].books.count[COUNT_returned_bytes]--;
}

TEST(a_byte_that_never_arrived_breaks_the_law_of_both_ends)
{
	struct record *r = joined(lose_a_byte);

	assert_int_equal(status_of(r, "end to end"), LAW_BROKEN);
	assert_int_equal(status_of(r, "receive"), LAW_BROKEN);
	assert_int_equal(status_of(r, "send"), LAW_BALANCED);
	drop_record(r);
}

static void see_no_references(struct made *sender, struct made *receiver)
{
	made_detach(receiver, "tx_reference");
	made_detach(receiver, "late_copy");
	sites_fill(&receiver->r);
}

TEST(a_host_that_referenced_nothing_need_not_look_for_it)
{
	struct record *r = joined(see_no_references);

	assert_int_equal(r->sites[SITE_late_copy].how, HOW_MEASURED);
	assert_int_equal(status_of(r, "reference"), LAW_BALANCED);
	drop_record(r);
}

static void see_no_arrival(struct made *sender, struct made *receiver)
{
	made_detach(receiver, "rx_copy");
	made_detach(receiver, "returned");
	sites_fill(&receiver->r);
}

TEST(what_one_host_did_not_measure_is_not_known_of_the_run)
{
	struct record *r = joined(see_no_arrival);

	assert_int_equal(r->sites[SITE_rx_copy].how, HOW_NOT_MEASURED);
	assert_non_null(strstr(r->sites[SITE_rx_copy].why, "receiver's host"));
	assert_int_equal(status_of(r, "receive"), LAW_NOT_TESTABLE);
	assert_int_equal(status_of(r, "end to end"), LAW_NOT_TESTABLE);
	drop_record(r);
}

TEST(a_sum_that_no_number_holds_joins_nothing)
{
	struct made sender, receiver;
	struct record *far = calloc(1, sizeof(*far)), *r = calloc(1, sizeof(*r));

	made_half(&sender, END_SENDER);
	made_half(&receiver, END_RECEIVER);
	*r = sender.r;
	*far = receiver.r;
	r->derived.total.count[COUNT_returned_bytes] = INT64_MAX;
	assert_int_equal(join_halves(r, far), -ERANGE);
	assert_null(record_far(r));
	/* What both point at was not made by malloc. */
	free(far);
	free(r);
}

static void miss_runs(struct made *sender, struct made *receiver)
{
	receiver->r.derived.gauges.lost_updates = 1;
	receiver->r.probes[0].missed_runs = 1;
}

TEST(what_the_receivers_probes_lost_is_lost_to_the_run)
{
	struct record *r = joined(miss_runs);

	assert_int_equal(status_of(r, "probes"), LAW_BROKEN);
	drop_record(r);
}

static void send_without_scatter_gather(struct made *sender, struct made *receiver)
{
	for (int flow = 0; flow < FLOWS; flow++) {
		struct socket_books *s = &sender->sockets[flow];

		s->books.site[SITE_late_copy].bytes = sender->stacks[flow].tally.bytes = 0;
		s->books.count[COUNT_clean_bytes] = made_bytes(flow) + RETRANSMITTED;
		s->unscattered_sends = 1;
	}
}

/* Such a send may have marked as COPIED what others referenced. */
TEST(sends_without_scatter_gather_on_the_other_host_are_known_here)
{
	struct record *r = joined(send_without_scatter_gather);

	assert_int_equal(status_of(r, "copied"), LAW_NOT_TESTABLE);
	drop_record(r);
}

static json_t *many(size_t count, json_t *each)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append(array, each);
	json_decref(each);
	return array;
}

/* Damages the value of a half that a path of keys leads to. */
static void refuse(const char *const *keys, json_t *value)
{
	struct record *r = calloc(1, sizeof(*r));
	struct made m;
	json_t *o, *at;

	made_half(&m, END_SENDER);
	o = made_half_json(&m, END_SENDER);
	for (at = o; keys[1]; keys++)
		at = json_is_array(at) ? json_array_get(at, atoi(*keys)) : json_object_get(at, *keys);
	assert_non_null(json_object_get(at, *keys));
	if (value)
		json_object_set_new(at, *keys, value);
	else
		json_object_del(at, *keys);
	if (!read_over(o, END_SENDER, &m.r.experiment->plan, r))
		fail_msg("a half was taken in spite of its %s", *keys);
	drop_record(r);
}

#define AT(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(a_half_that_makes_no_sense_is_refused)
{
	char long_text[1000];

	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	refuse(AT("record"), NULL);
	refuse(AT("record"), json_integer(1));
	refuse(AT("app"), json_string("totals"));
	refuse(AT("stacks"), json_object());
	refuse(AT("record", "machine", "kernel"), json_string(long_text));
	refuse(AT("record", "machine", "cpus"), json_string("2"));
	refuse(AT("record", "backend", "name"), json_string("magic"));
	refuse(AT("record", "backend", "probes", "0", "site"), json_string("no_such_site"));
	refuse(AT("record", "backend", "probes", "0", "status"), NULL);
	refuse(AT("record", "sockets", "0", "sites", "rx_copy"), NULL);
	refuse(AT("record", "sockets", "0", "counts", "accepted_bytes"), json_real(1.5));
	refuse(AT("unscattered_sends"), many(FLOWS, json_null()));
	refuse(AT("record", "sockets"), json_string("none"));
	refuse(AT("record", "sockets", "0", "cookie"), json_string("zero"));
	refuse(AT("record", "sockets", "0", "counts"), json_array());
	refuse(AT("record", "experiment", "counters", "sender"), NULL);
	refuse(AT("record", "experiment", "timing"), json_null());
	refuse(AT("record", "experiment", "outcome", "sender"), NULL);
	refuse(AT("record", "experiment", "path", "tx_dev"), json_string("eth0\x1b[2J"));
	refuse(AT("stacks", "0", "frames"), json_string("a\nb"));
	refuse(AT("failure"), json_string("\x7f"));
}

/* Far below what an int64_t holds, so that thousands of them can be added. */
#define BEYOND_EXACT ((1ll << 53) + 1)

TEST(numbers_that_a_sum_could_not_hold_are_refused)
{
	refuse(AT("record", "sockets", "0", "counts", "accepted_bytes"), json_integer(INT64_MIN));
	refuse(AT("record", "sockets", "0", "sites", "rx_copy", "bytes"), json_integer(INT64_MAX));
	refuse(AT("record", "sockets", "0", "counts", "completed_sends"), json_integer(-1));
	refuse(AT("record", "sockets", "0", "sites", "late_copy", "calls"), json_integer(BEYOND_EXACT));
	refuse(AT("record", "backend", "probes", "0", "missed_runs"), json_integer(-1));
	refuse(AT("record", "experiment", "attempt"), json_integer(1ll << 31));
	refuse(AT("record", "machine", "cpus"), json_integer(1ll << 32));
	refuse(AT("record", "machine", "memory_bytes"), json_integer(-1));
	refuse(AT("record", "experiment", "path", "mtu"), json_integer(-1));
	refuse(AT("record", "experiment", "timing", "window_ns"), json_integer(INT64_MAX));
	refuse(AT("stacks", "0", "bytes"), json_integer(INT64_MAX));
	refuse(AT("stacks", "0", "site"), json_integer(-1));
	refuse(AT("app", "accepted_bytes"), json_integer(BEYOND_EXACT));
	refuse(AT("app", "connections", "0", "completions"), json_integer(-1));
	refuse(AT("lost_updates"), json_integer(BEYOND_EXACT));
	refuse(AT("pid"), json_integer(-1));
	refuse(AT("record", "experiment", "outcome", "sender", "signal"), json_integer(65));
	refuse(AT("interrupted"), json_integer(-1));
}

TEST(more_of_anything_than_a_run_has_is_refused)
{
	refuse(AT("unscattered_sends"), many(FLOWS + 1, json_integer(0)));
	refuse(AT("stacks"), many(STACKS_MAX + 1, json_object()));
	refuse(AT("record", "sockets"), many(HALF_SOCKETS_MAX + 1, json_object()));
	refuse(AT("record", "backend", "probes"), many(PROBES_MAX + 1, json_object()));
	refuse(AT("app", "connections"), many(1025, json_object()));
}
