// SPDX-License-Identifier: GPL-2.0
/* How each site's number of a run is known, and what follows from others. */
#include "userspace/judge/sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/judge/copied.h"
#include "userspace/judge/sources.h"
#include "userspace/record/experiment.h"
#include "userspace/tables/receivers.h"

#define GET_TRAMPOLINES "needs the trampoline backend: run with --kernel 6.12"

static const char unseen[] = "no tracepoint sees it; " GET_TRAMPOLINES;

/*
 * On the tracepoint backend no tracepoint lies where bytes are referenced. The number comes from
 * the skbs that left; or, if the probes missed some, from the calls, because one call's bytes are
 * all copied or all referenced (net/ipv4/tcp.c, tcp_sendmsg_locked fixes the mode before its loop).
 */
static void derive_reference(struct books *b, bool wire, bool arrivals)
{
	unsigned long long *n = b->count;
	struct tally *reference = &b->site[SITE_tx_reference], *late = &b->site[SITE_late_copy];

	reference->calls = n[COUNT_zerocopy_sends];
	reference->bytes = wire ? n[COUNT_wire_referenced_bytes] -
					  n[COUNT_retrans_referenced_bytes] - n[COUNT_mixed_bytes]
				: n[COUNT_zerocopy_bytes] - n[COUNT_nosg_bytes];
	n[COUNT_pinned_pages] = wire ? books_pages_left(n) : 0;
	if (!arrivals)
		*late = *reference;
}

static void derive_books(struct books *b, bool tracepoint, bool wire, bool arrivals)
{
	const unsigned long long *n = b->count;
	struct tally *tx_copy = &b->site[SITE_tx_copy];

	if (tracepoint)
		derive_reference(b, wire, arrivals);
	tx_copy->bytes = wire ? n[COUNT_wire_copied_bytes] - n[COUNT_retrans_copied_bytes] +
					n[COUNT_mixed_bytes]
			      : n[COUNT_accepted_bytes] - b->site[SITE_tx_reference].bytes;
	tx_copy->bytes -= b->site[SITE_tx_splice].bytes;
	tx_copy->calls = n[COUNT_send_calls] - n[COUNT_zerocopy_sends] - b->site[SITE_tx_splice].calls;
}

enum site site_of_pages(const struct record *r)
{
	const char *receiver = r->experiment->plan.receiver;

	return receiver_has(receiver, RECEIVER_SPLICES) ? SITE_rx_splice :
	       receiver_has(receiver, RECEIVER_MAPS)	? SITE_rx_map :
							  SITE_COUNT;
}

/* Why TCP's own numbers of the sockets are not known; NULL if they are. */
static const char *no_sequence(const struct record *r)
{
	for (int e = 0; e < END_COUNT; e++) {
		const struct app_totals *app = record_app(r, e);

		if (!app->known || !app->sum.tcp_known)
			return "no tracepoint sees it, and an end left no sequence numbers of TCP; " GET_TRAMPOLINES;
	}
	return NULL;
}

/* No tracepoint sees pages that leave a socket as they are. TCP's sequence numbers tell what left, and the
 * plan, how. */
static void derive_pages(struct record *r)
{
	struct books *total = &r->derived.total;
	enum site site = site_of_pages(r);

	if (site == SITE_COUNT || no_sequence(r))
		return;
	for (int i = 0; i < r->derived.socket_count; i++) {
		struct books *b = &r->derived.sockets[i].books;
		uint64_t taken = books_taken(b);
		enum end end;
		const struct app_socket *app = record_app_socket(r, &r->derived.sockets[i], &end);
		uint64_t pages = app && app->tcp_returned_bytes > taken ? app->tcp_returned_bytes - taken : 0;

		b->site[site].bytes = pages;
		b->count[COUNT_returned_bytes] += pages;
		b->count[COUNT_map_calls] = app ? app->map_calls : 0;
		total->site[site].bytes += pages;
		total->count[COUNT_returned_bytes] += pages;
		total->count[COUNT_map_calls] += b->count[COUNT_map_calls];
	}
}

/* Charged to the reader's socket while the copy is charged to the sender's: only the sum can be corrected. */
static void total_correct(struct books *total)
{
	total->site[SITE_late_copy].bytes -= total->count[COUNT_user_referenced_bytes];
}

int ledger_derive(struct record *r)
{
	bool tracepoint = r->backend == BACKEND_TRACEPOINT, wire = record_wire_known(r);
	bool arrivals = record_probe_whole(r, "late_copy");
	int err;

	ledger_free(&r->derived);
	err = ledger_copy(&r->derived, &r->ledger);
	if (err)
		return err;
	r->derived.total.count[COUNT_mixed_bytes] = 0;
	for (int i = 0; i < r->derived.socket_count; i++) {
		unsigned long long *n = r->derived.sockets[i].books.count;

		n[COUNT_mixed_bytes] = wire ? books_mixed_bytes(n) : 0;
		r->derived.total.count[COUNT_mixed_bytes] += n[COUNT_mixed_bytes];
		derive_books(&r->derived.sockets[i].books, tracepoint, wire, arrivals);
	}
	derive_books(&r->derived.total, tracepoint, wire, arrivals);
	if (tracepoint)
		derive_pages(r);
	total_correct(&r->derived.total);
	return 0;
}

bool ledger_add_up(struct ledger *derived)
{
	bool fits = true;

	for (int i = 0; i < derived->socket_count; i++)
		fits &= books_add(&derived->total, &derived->sockets[i].books);
	total_correct(&derived->total);
	return fits;
}

/* The hook that begins the book of a site's socket: without it the site counts nothing at all,
 * whatever its own hook saw. */
static const char *books_opener(const struct record *r, enum site site)
{
	if (site == SITE_user_gather)
		return NULL;
	if (site_has(site, SITE_READS))
		return r->backend == BACKEND_TRAMPOLINE ? "returned" : NULL;
	return "accepted";
}

/* Packets tell what was copied; where the probes missed some, the rest of what was accepted does. */
static struct source source_of_tx_copy(const struct record *r)
{
	struct source source = *site_source(r->backend, SITE_tx_copy);

	source.why = record_wire_known(r)	       ? "payload in kernel memory of the skbs that left, less what left again" :
		     r->backend == BACKEND_TRACEPOINT ? "accepted by sends without zero copy in effect" :
							"accepted less referenced and spliced";
	if (record_wire_known(r))
		source.metrics[1] = NULL;
	return source;
}

static const char *why_arrivals(const struct record *r)
{
	if (!record_probe_whole(r, "late_copy"))
		return "sent in user pages, read from kernel pages";
	return record_tapped(r) ? "arrived in user pages, read from kernel pages; what a packet capture copies beside it is not seen" :
				  "arrived in user pages, read from kernel pages";
}

/* What a run knows by tracepoints otherwise than a watch: of each socket it saw all packets and all calls. */
static struct source source_by_tracepoints(const struct record *r, enum site site)
{
	if (site == site_of_pages(r))
		return (struct source){ HOW_DERIVED, { "rx_copy", "returned" },
			"what left the sockets by TCP's sequence numbers, less what was copied or dropped" };
	if (site == SITE_rx_map || site == SITE_rx_splice)
		return (struct source){ HOW_NOT_MEASURED };
	if (site == SITE_tx_reference)
		return (struct source){ HOW_DERIVED, {}, record_wire_known(r) ?
			"payload in user pages of the skbs that left, less what left again" :
			"accepted by sends with zero copy in effect" };
	if (site == SITE_rx_copy && plan_sends_datagrams(&r->experiment->plan))
		return (struct source){ HOW_DERIVED, {}, "returned by recv: no tracepoint sees the copy of a datagram" };
	if (site == SITE_late_copy)
		return (struct source){ HOW_DERIVED, { "rx_copy" }, why_arrivals(r) };
	return *site_source(BACKEND_TRACEPOINT, site);
}

/* It is known that there was nothing of it. */
static bool lacks_tls(const struct record *r, enum site site)
{
	return site_has(site, SITE_OF_TLS) && !plan_has_tls(&r->experiment->plan);
}

static struct source source_of(const struct record *r, enum site site)
{
	const struct source *usual = site_source(r->backend, site);

	if (lacks_tls(r, site))
		return (struct source){ HOW_DERIVED, {}, "no socket of this run has kernel TLS" };
	if (site == SITE_tx_copy)
		return source_of_tx_copy(r);
	if (!usual || site == SITE_tls_splice)
		return (struct source){ HOW_MEASURED, { site_name(site) }, "" };
	return r->backend == BACKEND_TRACEPOINT ? source_by_tracepoints(r, site) : *usual;
}

/* It tells what it gathered when it has sent all. On path peer it has no process on the other host. */
static bool sender_was_cut_short(const struct record *r)
{
	const struct app_totals *tx = record_app(r, END_SENDER);

	return tx->pid && !tx->known;
}

/* NULL: it is known. */
static const char *why_unknown(const struct record *r, enum site site, const struct source *source)
{
	const char *opener = books_opener(r, site), *why = NULL;

	if (r->backend == BACKEND_NONE)
		return r->backend_why;
	if (lacks_tls(r, site))
		return NULL;
	if (site == SITE_user_gather && sender_was_cut_short(r))
		return "the sender did not end by itself";
	if (opener)
		why = why_absent(&r->measured, opener, unseen);
	if (!why)
		why = source->how == HOW_NOT_MEASURED ? unseen : source_lacks(&r->measured, source, unseen);
	if (!why && r->backend == BACKEND_TRACEPOINT && site == site_of_pages(r))
		why = no_sequence(r);
	return why;
}

static void pins_by_tracepoint(struct pins *p, const struct record *r)
{
	uint64_t missed_hits = record_missed_hits(r, NULL);
	const char *absent = missed_hits ? NULL : why_absent(&r->measured, "tx_copy", unseen);

	p->how = record_wire_known(r) ? r->sites[SITE_tx_reference].how : HOW_NOT_MEASURED;
	if (p->how != HOW_NOT_MEASURED)
		snprintf(p->why, WHY_BYTES, "pages: those in the packets that left, at most, as one that "
			 "is cut between two packets counts in both; released and peak: no tracepoint sees a release, "
			 GET_TRAMPOLINES);
	else if (missed_hits)
		snprintf(p->why, WHY_BYTES, "the probes missed %" PRIu64 " packets", missed_hits);
	else
		snprintf(p->why, WHY_BYTES, "%.200s", absent ?: r->sites[SITE_tx_reference].why);
}

static void pins_by_trampoline(struct pins *p, const struct record *r)
{
	p->how = r->sites[SITE_tx_reference].how;
	/* A release is recognised by the pin that it ends. */
	p->released_how = record_probe_attached(r, metric_of_completions(r)) ? p->how : HOW_NOT_MEASURED;
	p->peak_how = p->released_how;
	if (p->how == HOW_NOT_MEASURED)
		snprintf(p->why, WHY_BYTES, "%s", r->sites[SITE_tx_reference].why);
	else if (p->released_how == HOW_NOT_MEASURED)
		snprintf(p->why, WHY_BYTES, "released and peak: %.200s",
			 why_absent(&r->measured, metric_of_completions(r), unseen));
}

static void pins_fill(struct record *r)
{
	const unsigned long long *n = r->derived.total.count;
	struct pins *p = &r->pins;

	p->pages = n[COUNT_pinned_pages];
	p->released_pages = n[COUNT_released_pages];
	p->peak_pages = r->derived.gauges.peak_pages;
	if (r->backend == BACKEND_TRACEPOINT)
		pins_by_tracepoint(p, r);
	else
		pins_by_trampoline(p, r);
}

/* A capture on the way out copies before any arrival could tell, and no tracepoint sees it. */
static void deny_late_copy(struct record *r)
{
	struct site_value *late = &r->sites[SITE_late_copy];

	if (!record_tapped(r) || !copies_denied(r))
		return;
	late->how = HOW_NOT_MEASURED;
	snprintf(late->why, WHY_BYTES, "completions say COPIED, arrivals do not: what a packet capture copies "
		 GET_TRAMPOLINES);
}

void sites_fill(struct record *r)
{
	for (enum site s = 0; s < SITE_COUNT; s++) {
		const struct source source = source_of(r, s);

		site_tell(&r->sites[s], &r->derived.total.site[s], &source, why_unknown(r, s, &source));
	}
	deny_late_copy(r);
	pins_fill(r);
}
