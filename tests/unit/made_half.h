/* SPDX-License-Identifier: GPL-2.0 */
/* Makes what one of two hosts counted, by hand, for tests to send and to damage. */
#ifndef COPYSCOPE_MADE_HALF_H
#define COPYSCOPE_MADE_HALF_H

#include "tests/unit/made_record.h"

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
