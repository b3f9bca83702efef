/* SPDX-License-Identifier: GPL-2.0 */
/* Makes what one of two hosts counted, by hand, for tests to send over and to spoil. */
#ifndef COPYSCOPE_MADE_HALF_H
#define COPYSCOPE_MADE_HALF_H

#include "tests/unit/made_record.h"

/* The flows of one end alone, under cookies that the other host uses too. */
static inline void made_half(struct made *m, enum end end)
{
	struct ledger *ledger = &m->r.ledger;
	struct app_totals *app = &m->r.app[end];

	made_init(m);
	strcpy(m->r.path.kind, "peer");
	m->r.machine.cpus = m->r.attempt = 1;
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
		app->sum.accepted_bytes += a->accepted_bytes;
		app->sum.received_bytes += a->received_bytes;
		app->sum.zerocopy_sends += a->zerocopy_sends;
		app->sum.completions += a->completions;
	}
	sites_fill(&m->r);
}

#endif
