/* SPDX-License-Identifier: GPL-2.0 */
/* Makes what one of two hosts counted, by hand, for tests to send and to damage. */
#ifndef COPYSCOPE_MADE_HALF_H
#define COPYSCOPE_MADE_HALF_H

#include "tests/unit/made_record.h"
#include "userspace/common/json.h"
#include "userspace/peer/half.h"

/* What no record leaves out. */
static inline void made_host(struct record *r, enum end end)
{
	r->machine = (struct machine){ .kernel = "6.12.0", .arch = "x86_64", .cpu_model = "some",
				       .virt = "none", .lockdown = "none", .cpus = 2,
				       .memory_bytes = 1 << 30 };
	strcpy(r->experiment->path.kind, "peer");
	strcpy(end == END_SENDER ? r->experiment->path.tx_dev : r->experiment->path.rx_dev, "eth0");
	r->experiment->path.mtu = 1500;
	strcpy(r->backend_why, "asked for");
	r->experiment->attempt = r->experiment->app[end].pid = 1;
	for (int i = 0; i < r->probe_count; i++)
		snprintf(r->probes[i].hook, NAME_BYTES, "fexit/some_function");
	for (int i = 0; i < COUNTER_COUNT; i++)
		strcpy(r->experiment->counters[end][i].why, "none here");
}

static inline json_t *made_counts_json(const struct app_socket *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "messages", s->messages,
			 "accepted_bytes", s->accepted_bytes, "received_bytes", s->received_bytes, "gather_bytes",
			 s->gather_bytes, "zerocopy_sends", s->zerocopy_sends, "completions", s->completions,
			 "completions_copied", s->completions_copied, "enobufs", s->enobufs, "map_calls", s->map_calls,
			 "content_errors", s->content_errors, "tcp_accepted_bytes", s->tcp_accepted_bytes,
			 "tcp_returned_bytes", s->tcp_returned_bytes, "tcp_retransmitted_bytes",
			 s->tcp_retransmitted_bytes);
}

/* What the workload would print of that end. */
static inline json_t *made_totals(const struct app_totals *app)
{
	json_t *o = made_counts_json(&app->sum), *connections = json_array();

	for (int i = 0; i < app->socket_count; i++) {
		json_t *each = made_counts_json(&app->sockets[i]);

		json_object_set_new(each, "cookie", cookie_json(app->sockets[i].cookie));
		json_array_append_new(connections, each);
	}
	json_object_set_new(o, "stopped_by", json_null());
	json_object_set_new(o, "elapsed_ns", json_integer(app->elapsed_ns));
	json_object_set_new(o, "connections", connections);
	return o;
}

/* What its host sends. */
static inline json_t *made_half_json(const struct made *m, enum end end)
{
	return peer_half_json(&m->r, end, made_totals(&m->experiment.app[end]));
}

/* The flows of one end alone, under cookies that the other host uses too. */
static inline void made_half(struct made *m, enum end end)
{
	struct ledger *ledger = &m->r.derived;
	struct app_totals *app = &m->experiment.app[end];

	made_init(m);
	/* Two hosts make one pass. */
	m->experiment.timed = NULL;
	made_host(&m->r, end);
	ledger->socket_count = FLOWS;
	/* Whose notification it is sees the copy. */
	if (end == END_RECEIVER)
		ledger->stack_count = 0;
	for (int flow = 0; flow < FLOWS; flow++) {
		struct socket_books *s = &m->sockets[flow];
		struct app_socket *a = &m->app[end][flow];

		*s = m->sockets[2 * flow + end];
		s->cookie = a->cookie = 7 + flow;
		books_sum(&ledger->total, &s->books);
	}
	made_sum(app);
	sites_fill(&m->r);
}

#endif
