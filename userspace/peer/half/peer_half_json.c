// SPDX-License-Identifier: GPL-2.0
/* Writes one host's half of a record as JSON. */
#include "userspace/peer/half/peer_half_json.h"

#include "userspace/common/json/json.h"
#include "userspace/report/record_json.h"

static void put_counts(json_t *o, const struct app_socket *s)
{
	put(o, "messages", json_integer(s->messages));
	put(o, "accepted_bytes", json_integer(s->accepted_bytes));
	put(o, "received_bytes", json_integer(s->received_bytes));
	put(o, "gather_bytes", json_integer(s->gather_bytes));
	put(o, "zerocopy_sends", json_integer(s->zerocopy_sends));
	put(o, "completions", json_integer(s->completions));
	put(o, "completions_copied", json_integer(s->completions_copied));
	put(o, "enobufs", json_integer(s->enobufs));
	put(o, "content_errors", json_integer(s->content_errors));
	put(o, "tcp_accepted_bytes", integer_if(s->tcp_known, s->tcp_accepted_bytes));
	put(o, "tcp_returned_bytes", integer_if(s->tcp_known, s->tcp_returned_bytes));
	put(o, "tcp_retransmitted_bytes", integer_if(s->tcp_known, s->tcp_retransmitted_bytes));
}

static json_t *connection_json(const struct app_socket *s)
{
	json_t *o = json_pack("{s:o, s:s, s:s}", "cookie", cookie_json(s->cookie), "local", s->local,
			      "remote", s->remote);

	put_counts(o, s);
	if (s->latency_known)
		put(o, "latency_ns", json_pack("{s:f}", "mean", s->latency_mean_us * 1000));
	return o;
}

/* The workload's totals, in the form that it prints itself; null if it left none. */
static json_t *app_json(const struct app_totals *app)
{
	json_t *o = app->known ? json_object() : json_null(), *connections = json_array();
	const struct latency *l = &app->latency;

	for (int i = 0; app->known && i < app->socket_count; i++)
		json_array_append_new(connections, connection_json(&app->sockets[i]));
	if (!app->known) {
		json_decref(connections);
		return o;
	}
	put_counts(o, &app->sum);
	if (!app->completions_read)
		put(o, "completions", json_null());
	if (app->content_unchecked)
		put(o, "content_errors", json_null());
	put(o, "elapsed_ns", json_integer(app->elapsed_ns));
	if (l->known)
		put(o, "latency_ns", json_pack("{s:s, s:f, s:f, s:f}", "what", l->what, "mean",
					       l->mean_us * 1000, "p50", l->p50_us * 1000, "p99",
					       l->p99_us * 1000));
	put(o, "connections", connections);
	return o;
}

json_t *peer_half_json(const struct record *r, enum end end)
{
	const struct experiment *x = r->experiment;
	json_t *record = record_json(r), *stacks = json_array();

	/* It may contain any character, and the other host does not need it. */
	json_object_del(record, "command");
	for (int i = 0; i < r->derived.stack_count; i++) {
		const struct copy_stack *s = &r->derived.stacks[i];

		json_array_append_new(stacks, json_pack("{s:i, s:i, s:s, s:I, s:I}", "site", s->site,
							"circumstances", s->circumstances, "frames",
							s->frames, "bytes", (json_int_t)s->tally.bytes,
							"calls", (json_int_t)s->tally.calls));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:i, s:o, s:b, s:i, s:s}", "end",
			 end == END_SENDER ? "sender" : "receiver", "record", record, "stacks", stacks,
			 "app", app_json(&x->app[end]), "lost_updates",
			 (json_int_t)r->derived.gauges.lost_updates, "pid", x->app[end].pid,
			 "ended", end_outcome_json(&x->ends.end[end]), "fifo", x->fifo, "interrupted",
			 x->ends.interrupt_signal, "failure", x->ends.failure);
}
