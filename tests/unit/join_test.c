// SPDX-License-Identifier: GPL-2.0
/* Two halves come to one record: through JSON, with cookies that collide, and judged as one. */
#include "tests/unit/made_record.h"

#include <stdlib.h>

#include "userspace/peer/half_json.h"
#include "userspace/peer/join.h"
#include "userspace/trace/record_json.h"

/* The flows of one end alone, under cookies that the other host uses too. */
static void made_half(struct made *m, enum end end, struct child *child)
{
	struct ledger *ledger = &m->r.ledger;
	char text[2000] = "", each[400];
	uint64_t sum = 0;

	made_init(m);
	strcpy(m->r.path.kind, "peer");
	ledger->socket_count = FLOWS;
	/* Whose notification it is sees the copy. */
	if (end == END_RECEIVER)
		ledger->stack_count = 0;
	for (int flow = 0; flow < FLOWS; flow++) {
		struct socket_books *s = &m->sockets[flow];
		uint64_t bytes = made_bytes(flow);

		*s = m->sockets[2 * flow + end];
		s->cookie = m->app[end][flow].cookie = 7 + flow;
		books_sum(&ledger->total, &s->books);
		snprintf(each, sizeof(each), "%s{\"cookie\": \"%d\", \"%s\": %llu, \"messages\": 3, "
			 "\"zerocopy_sends\": %d, \"completions\": %d}", flow ? ", " : "", 7 + flow,
			 end == END_SENDER ? "accepted_bytes" : "received_bytes",
			 (unsigned long long)bytes, end ? 0 : MESSAGES, end ? 0 : MESSAGES);
		strcat(text, each);
		sum += bytes;
	}
	child->text = malloc(sizeof(text) + 400);
	sprintf(child->text, "{\"%s\": %llu, \"zerocopy_sends\": %d, \"completions\": %d, "
		"\"content_errors\": 0, \"connections\": [%s]}",
		end == END_SENDER ? "accepted_bytes" : "received_bytes", (unsigned long long)sum,
		end ? 0 : FLOWS * MESSAGES, end ? 0 : FLOWS * MESSAGES, text);
	sites_fill(&m->r);
}

/* What the other host makes of it. */
static struct record *sent_over(struct made *m, enum end end, struct child *child)
{
	json_t *o = half_json(&m->r, end, child);
	struct record *r = calloc(1, sizeof(*r));

	assert_int_equal(half_read(o, end, r), 0);
	json_decref(o);
	free(child->text);
	r->plan = m->r.plan;
	return r;
}

static struct record *joined(void (*spoil)(struct made *sender, struct made *receiver))
{
	struct made sender, receiver;
	struct child tx = { .pid = 1 }, rx = { .pid = 2 };
	struct record *r, *far;

	made_half(&sender, END_SENDER, &tx);
	made_half(&receiver, END_RECEIVER, &rx);
	if (spoil)
		spoil(&sender, &receiver);
	r = sent_over(&sender, END_SENDER, &tx);
	far = sent_over(&receiver, END_RECEIVER, &rx);
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

static void two_whole_halves_balance_though_their_cookies_collide(void **state)
{
	struct record *r = joined(NULL);

	assert_int_equal(laws_broken(r), 0);
	for (int i = 0; i < r->law_count; i++)
		assert_int_equal(r->laws[i].status, LAW_BALANCED);
	assert_int_equal(r->ledger.socket_count, 2 * FLOWS);
	assert_int_equal(r->sites[SITE_rx_copy].tally.bytes, made_bytes(0) + made_bytes(1));
	for (int i = 0; i < 2 * FLOWS; i++) {
		enum end end;

		assert_non_null(record_app_socket(r, &r->ledger.sockets[i], &end));
		assert_int_equal(end, r->ledger.sockets[i].host);
	}
	drop_record(r);
}

static void lose_a_byte(struct made *sender, struct made *receiver)
{
	receiver->r.ledger.total.count[COUNT_returned_bytes]--;
	receiver->sockets[0].books.count[COUNT_returned_bytes]--;
}

static void a_byte_that_never_arrived_breaks_the_law_of_both_ends(void **state)
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

static void a_host_that_referenced_nothing_need_not_look_for_it(void **state)
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

static void what_one_host_did_not_measure_is_not_known_of_the_run(void **state)
{
	struct record *r = joined(see_no_arrival);

	assert_int_equal(r->sites[SITE_rx_copy].how, HOW_NOT_MEASURED);
	assert_non_null(strstr(r->sites[SITE_rx_copy].why, "receiver's host"));
	assert_int_equal(status_of(r, "receive"), LAW_NOT_TESTABLE);
	assert_int_equal(status_of(r, "end to end"), LAW_NOT_TESTABLE);
	drop_record(r);
}

static void miss_runs(struct made *sender, struct made *receiver)
{
	receiver->r.ledger.gauges.lost_updates = 1;
	receiver->r.probes[0].missed_runs = 1;
}

static void what_the_receivers_probes_lost_is_lost_to_the_run(void **state)
{
	struct record *r = joined(miss_runs);

	assert_int_equal(status_of(r, "probes"), LAW_BROKEN);
	drop_record(r);
}

/* Spoils one value of a half, wherever a path of keys leads. */
static void refuse(const char *const *keys, json_t *value)
{
	struct child child = {};
	struct record *r = calloc(1, sizeof(*r));
	struct made m;
	json_t *o, *at;

	made_half(&m, END_SENDER, &child);
	o = half_json(&m.r, END_SENDER, &child);
	for (at = o; keys[1]; keys++)
		at = json_is_array(at) ? json_array_get(at, atoi(*keys)) : json_object_get(at, *keys);
	assert_non_null(json_object_get(at, *keys));
	if (value)
		json_object_set_new(at, *keys, value);
	else
		json_object_del(at, *keys);
	assert_int_not_equal(half_read(o, END_SENDER, r), 0);
	json_decref(o);
	free(child.text);
	drop_record(r);
}

#define AT(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void a_half_that_makes_no_sense_is_refused(void **state)
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
	refuse(AT("record", "sites", "rx_copy"), NULL);
	refuse(AT("record", "sites", "rx_copy", "how"), json_string("guessed"));
	refuse(AT("record", "counts", "accepted_bytes"), json_real(1.5));
	refuse(AT("record", "sockets"), json_string("none"));
	refuse(AT("record", "sockets", "0", "cookie"), json_string("zero"));
	refuse(AT("record", "sockets", "0", "counts"), json_array());
	refuse(AT("record", "counters", "sender"), NULL);
	refuse(AT("record", "timing"), json_null());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_whole_halves_balance_though_their_cookies_collide),
		cmocka_unit_test(a_byte_that_never_arrived_breaks_the_law_of_both_ends),
		cmocka_unit_test(a_host_that_referenced_nothing_need_not_look_for_it),
		cmocka_unit_test(what_one_host_did_not_measure_is_not_known_of_the_run),
		cmocka_unit_test(what_the_receivers_probes_lost_is_lost_to_the_run),
		cmocka_unit_test(a_half_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
