/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a whole record by hand, whose laws balance, for tests to break. */
#ifndef COPYSCOPE_MADE_RECORD_H
#define COPYSCOPE_MADE_RECORD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "userspace/judge/causes.h"
#include "userspace/judge/laws.h"
#include "userspace/judge/sites.h"
#include "userspace/record/experiment.h"

/* Two connections: flow i is sent by socket 2i and received by socket 2i + 1. */
enum { FLOWS = 2, MESSAGES = 3, PAGES = 9, RETRANSMITTED = 100 };

struct made {
	struct record r;
	struct experiment experiment;
	struct socket_books sockets[2 * FLOWS];
	struct socket_books derived[2 * FLOWS];	/* after made_derive */
	struct app_socket app[END_COUNT][FLOWS];
	struct pass timed;
	struct app_socket timed_app[END_COUNT][FLOWS];
	struct copy_stack stacks[CAUSES_MAX + 2];
};

static inline struct books *made_tx(struct made *m, int flow)
{
	return &m->sockets[2 * flow].books;
}

static inline struct books *made_rx(struct made *m, int flow)
{
	return &m->sockets[2 * flow + 1].books;
}

static inline uint64_t made_bytes(int flow)
{
	return MESSAGES * 4093 * (flow + 1);
}

static inline void made_attach(struct made *m, const char *metric)
{
	struct probe *p = &m->r.probes[m->r.probe_count++];

	*p = (struct probe){ .metric = metric, .status = PROBE_ATTACHED };
}

/* The hook of that question; the test fails if there is none. */
static inline struct probe *made_probe(struct made *m, const char *metric)
{
	for (int i = 0; i < m->r.probe_count; i++)
		if (!strcmp(m->r.probes[i].metric, metric))
			return &m->r.probes[i];
	fail_msg("no hook answers %s", metric);
	return NULL;
}

static inline void made_detach(struct made *m, const char *metric)
{
	struct probe *p = made_probe(m, metric);

	p->status = PROBE_REFUSED;
	snprintf(p->why, WHY_BYTES, "refused: %s", metric);
}

static inline void made_flow(struct made *m, int flow)
{
	struct books *tx = made_tx(m, flow), *rx = made_rx(m, flow);
	uint64_t bytes = made_bytes(flow);

	m->sockets[2 * flow].cookie = 11 + flow;
	m->sockets[2 * flow + 1].cookie = 21 + flow;
	tx->count[COUNT_send_calls] = tx->count[COUNT_zerocopy_asked_sends] = MESSAGES;
	tx->count[COUNT_zerocopy_sends] = tx->count[COUNT_completed_sends] = tx->count[COUNT_copied_sends] = MESSAGES;
	tx->count[COUNT_accepted_bytes] = tx->count[COUNT_zerocopy_bytes] = bytes;
	tx->count[COUNT_pinned_pages] = tx->count[COUNT_released_pages] = PAGES;
	tx->count[COUNT_retrans_referenced_bytes] = RETRANSMITTED;
	tx->count[COUNT_wire_referenced_bytes] = bytes + RETRANSMITTED;
	tx->count[COUNT_wire_referenced_pages] = PAGES;
	tx->site[SITE_tx_reference] = (struct tally){ bytes, MESSAGES };
	tx->site[SITE_late_copy] = (struct tally){ bytes + RETRANSMITTED, MESSAGES };
	rx->count[COUNT_recv_calls] = MESSAGES;
	rx->count[COUNT_returned_bytes] = bytes;
	rx->site[SITE_rx_copy] = (struct tally){ bytes, MESSAGES };
	m->app[END_SENDER][flow] = (struct app_socket){
		.cookie = 11 + flow, .accepted_bytes = bytes, .zerocopy_sends = MESSAGES,
		.completions = MESSAGES, .completions_copied = MESSAGES,
		.tcp_known = true, .tcp_accepted_bytes = bytes,
		.tcp_retransmitted_bytes = RETRANSMITTED,
	};
	m->app[END_RECEIVER][flow] = (struct app_socket){
		.cookie = 21 + flow, .received_bytes = bytes, .messages = MESSAGES,
		.tcp_known = true, .tcp_returned_bytes = bytes,
	};
	for (int e = 0; e < END_COUNT; e++)
		m->timed_app[e][flow] = m->app[e][flow];
}

/* One more stack that copied at a site. */
static inline struct copy_stack *made_stack(struct made *m, enum site site, const char *frames,
					    uint64_t bytes)
{
	struct copy_stack *stack = &m->stacks[m->r.derived.stack_count++];

	*stack = (struct copy_stack){ .site = site, .tally = { bytes, 1 } };
	snprintf(stack->frames, sizeof(stack->frames), "%s", frames);
	return stack;
}

/* A3 with everything known, as trampolines know it. */
static inline void made_init(struct made *m)
{
	static const char *const metrics[] = { "accepted", "returned", "completions", "clean",
					       "drops", "taps", "refusals", "optmem", "sends", "fast open" };

	memset(m, 0, sizeof(*m));
	m->r.experiment = &m->experiment;
	strcpy(m->r.experiment->plan.variant, "A3");
	strcpy(m->r.experiment->path.kind, "veth");
	m->r.experiment->path.scatter_gather = true;
	m->r.backend = BACKEND_TRAMPOLINE;
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		made_attach(m, metrics[i]);
	for (enum site s = 0; s < SITE_COUNT; s++)
		made_attach(m, site_name(s));
	for (int flow = 0; flow < FLOWS; flow++)
		made_flow(m, flow);
	m->r.derived.sockets = m->sockets;
	m->r.derived.stacks = m->stacks;
	for (int flow = 0; flow < FLOWS; flow++)
		made_stack(m, SITE_late_copy, "ip_local_deliver_finish < ip_local_deliver",
			   made_tx(m, flow)->site[SITE_late_copy].bytes);
	m->r.derived.socket_count = 2 * FLOWS;
	m->experiment.timed = &m->timed;
	for (int e = 0; e < END_COUNT; e++) {
		m->r.experiment->app[e] = (struct app_totals){ .known = true, .sockets = m->app[e],
						   .socket_count = FLOWS, .completions_read = true };
		m->timed.app[e] = m->r.experiment->app[e];
		m->timed.app[e].sockets = m->timed_app[e];
	}
}

/* The same over kernel TLS: a record a message. Half is referenced and half is copied; half is decrypted in place. */
static inline void made_tls(struct made *m)
{
	static const char *const metrics[] = { "TLS accepted", "TLS returned", "TLS records" };
	enum { OVERHEAD = 22 * MESSAGES };

	strcpy(m->r.experiment->plan.variant, "ktls");
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		made_attach(m, metrics[i]);
	m->r.derived.stack_count = 0;
	for (int flow = 0; flow < FLOWS; flow++) {
		struct books *tx = made_tx(m, flow), *rx = made_rx(m, flow);
		uint64_t bytes = made_bytes(flow), half = bytes / 2;

		*tx = (struct books){};
		tx->count[COUNT_accepted_bytes] = tx->count[COUNT_tls_carried_bytes] = bytes + OVERHEAD;
		tx->site[SITE_tx_splice].bytes = bytes + OVERHEAD;
		tx->count[COUNT_tls_accepted_bytes] = tx->site[SITE_tls_encrypt].bytes = bytes;
		tx->count[COUNT_tls_sent_overhead_bytes] = OVERHEAD;
		tx->site[SITE_tls_copy].bytes = half;
		tx->site[SITE_tls_reference].bytes = bytes - half;
		rx->site[SITE_rx_copy].bytes = half;
		rx->site[SITE_rx_direct].bytes = bytes - half;
		rx->site[SITE_tls_decrypt].bytes = rx->count[COUNT_tls_received_bytes] = bytes;
		rx->count[COUNT_tls_received_overhead_bytes] = OVERHEAD;
		m->app[END_RECEIVER][flow].tcp_returned_bytes += OVERHEAD;
		m->app[END_SENDER][flow].zerocopy_sends = m->app[END_SENDER][flow].completions = 0;
		m->app[END_SENDER][flow].completions_copied = 0;
	}
}

/* What the workload prints of all its sockets together. */
static inline void made_sum(struct app_totals *app)
{
	struct app_socket *sum = &app->sum;

	sum->tcp_known = true;
	for (int i = 0; i < FLOWS; i++) {
		const struct app_socket *s = &app->sockets[i];

		sum->messages += s->messages;
		sum->accepted_bytes += s->accepted_bytes;
		sum->received_bytes += s->received_bytes;
		sum->gather_bytes += s->gather_bytes;
		sum->zerocopy_sends += s->zerocopy_sends;
		sum->completions += s->completions;
		sum->completions_copied += s->completions_copied;
		sum->content_errors += s->content_errors;
		sum->tcp_known &= s->tcp_known;
		sum->tcp_accepted_bytes += s->tcp_accepted_bytes;
		sum->tcp_returned_bytes += s->tcp_returned_bytes;
		sum->tcp_retransmitted_bytes += s->tcp_retransmitted_bytes;
	}
}

static inline void books_sum(struct books *sum, const struct books *b)
{
	for (int s = 0; s < SITE_COUNT; s++) {
		sum->site[s].bytes += b->site[s].bytes;
		sum->site[s].calls += b->site[s].calls;
	}
	for (int c = 0; c < COUNT_COUNT; c++)
		sum->count[c] += b->count[c];
}

/* Sums the sockets, as the ledger and the workload do, and passes judgement. */
static inline void made_judge(struct made *m)
{
	for (int i = 0; i < 2 * FLOWS; i++)
		books_sum(&m->r.derived.total, &m->sockets[i].books);
	for (int e = 0; e < END_COUNT; e++) {
		made_sum(&m->experiment.app[e]);
		made_sum(&m->timed.app[e]);
	}
	sites_fill(&m->r);
	causes_fill(&m->r);
	laws_fill(&m->r);
}

/* Takes the books for what was read, derives from them, and passes judgement again. */
static inline void made_derive(struct made *m)
{
	m->r.ledger = m->r.derived;
	m->r.derived = (struct ledger){};
	assert_int_equal(ledger_derive(&m->r), 0);
	memcpy(m->derived, m->r.derived.sockets, sizeof(m->derived));
	free(m->r.derived.sockets);
	free(m->r.derived.stacks);
	m->r.derived.sockets = m->derived;
	m->r.derived.stacks = m->stacks;
	sites_fill(&m->r);
	causes_fill(&m->r);
	laws_fill(&m->r);
}

/* The sender's books of a flow with what was derived. */
static inline const struct books *made_derived_tx(const struct made *m, int flow)
{
	return &m->derived[2 * flow].books;
}

static inline const struct law *made_law(const struct made *m, const char *name)
{
	for (int i = 0; i < m->r.law_count; i++)
		if (!strcmp(m->r.laws[i].name, name))
			return &m->r.laws[i];
	fail_msg("no law is called %s", name);
	return NULL;
}

/* The names of all laws of that status, in order, each followed by a comma. */
static inline const char *made_laws(const struct made *m, enum law_status status)
{
	static char names[400];

	*names = '\0';
	for (int i = 0; i < m->r.law_count; i++)
		if (m->r.laws[i].status == status)
			strcat(strcat(names, m->r.laws[i].name), ",");
	return names;
}

#endif
