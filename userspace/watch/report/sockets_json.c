// SPDX-License-Identifier: GPL-2.0
/* Writes sums over the sockets of a watch as JSON, and finds the few that its report names. */
#include "userspace/watch/report/sockets_json.h"

#include <stdlib.h>

#include "userspace/common/json.h"
#include "userspace/watch/report/rows.h"

/* More processes that broke a law are named by no report. */
enum { DOUBTED = 16 };

static uint64_t count_if_known(const struct watch_movements *m, enum count count)
{
	return m->counts_known >> count & 1 ? m->count[count] : 0;
}

/* What sockets that closed still held will neither be sent nor read. */
static json_t *lost_json(const struct watch_record *r)
{
	json_t *o = json_object();

	for (enum watch_balance_item item = 0; item <= WATCH_unread_bytes; item++) {
		const struct watch_balance *all = &r->total.closing;
		uint64_t held = all->known >> item & 1 ? all->item[item] : 0, open = 0;

		for (int i = 0; i < r->socket_count; i++) {
			const struct watch_socket *s = &r->sockets[i];

			if (!s->died && !s->apart && s->closing.known >> item & 1)
				open += s->closing.item[item];
		}
		put(o, watch_balance_name(item), json_integer(held > open ? held - open : 0));
	}
	return o;
}

/* What is not known of all sockets may be known of some. */
static json_t *least_json(const struct watch_record *r)
{
	static const enum count counts[] = { COUNT_zerocopy_asked_sends, COUNT_zerocopy_sends, COUNT_enobufs,
					     COUNT_tls_sent_records, COUNT_tls_received_records };
	json_t *o = json_object();
	uint64_t sum = 0;

	for (int i = 0; i < r->socket_count; i++)
		if (!r->sockets[i].apart && r->sockets[i].moved.sites_known >> SITE_tx_reference & 1)
			sum += r->sockets[i].moved.site[SITE_tx_reference].bytes;
	put(o, site_name(SITE_tx_reference), json_integer(sum));
	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		sum = 0;
		for (int i = 0; i < r->socket_count; i++)
			if (!r->sockets[i].apart)
				sum += count_if_known(&r->sockets[i].moved, counts[c]);
		put(o, count_name(counts[c]), json_integer(sum));
	}
	return o;
}

json_t *socket_sums_json(const struct watch_record *r)
{
	json_t *o = json_object();
	uint64_t datagrams = 0;

	for (int i = 0; i < r->socket_count; i++)
		if (r->sockets[i].datagrams)
			datagrams += count_if_known(&r->sockets[i].moved, COUNT_accepted_bytes);
	put(o, "datagrams_sent_bytes", json_integer(datagrams));
	put(o, "lost", lost_json(r));
	put(o, "least", least_json(r));
	return o;
}

static bool is_broken(const struct watch_socket *s)
{
	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		if (watch_law_status(&s->laws[l]) == LAW_BROKEN)
			return true;
	return false;
}

static void name_broken(const struct watch_record *r, bool *named)
{
	int doubted = 0;

	for (int i = 0; i < r->process_count && doubted < DOUBTED; i++) {
		const struct watch_process *p = &r->processes[i];
		int at = 0;

		if (!p->sum.laws_broken)
			continue;
		doubted++;
		while (at < r->socket_count && !(r->sockets[at].owner.pid == p->id.pid && is_broken(&r->sockets[at])))
			at++;
		if (at < r->socket_count)
			named[at] = true;
	}
}

static int name_rows(const struct watch_record *r, const struct watch_options *o, bool *named)
{
	struct rows rows;
	int err = rows_make(r, ROWS_SOCKETS, o->order, false, &rows);

	for (int i = 0; !err && i < rows.count && i < o->top; i++)
		named[rows.row[i].at] = true;
	if (!err)
		rows_free(&rows);
	return err;
}

bool *sockets_named(const struct watch_record *r, const struct watch_options *o)
{
	bool *named = calloc(r->socket_count + 1, sizeof(*named));

	if (named && o->rows == ROWS_SOCKETS && name_rows(r, o, named)) {
		free(named);
		return NULL;
	}
	if (named)
		name_broken(r, named);
	return named;
}
