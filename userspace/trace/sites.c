// SPDX-License-Identifier: GPL-2.0
/* How each site's number is known on each backend. */
#include "userspace/trace/sites.h"

#include <stdio.h>
#include <string.h>

#define GET_TRAMPOLINES "needs the trampoline backend: run with --kernel 6.12"

static void derive_books(struct books *b, enum backend backend, bool wire)
{
	unsigned long long *n = b->count;
	struct tally *tx_copy = &b->site[SITE_tx_copy];
	struct tally *tx_reference = &b->site[SITE_tx_reference];

	if (backend == BACKEND_TRACEPOINT) {
		tx_reference->bytes = n[COUNT_wire_referenced_bytes] -
				      n[COUNT_retrans_referenced_bytes];
		tx_reference->calls = n[COUNT_zerocopy_sends];
		n[COUNT_pinned_pages] = n[COUNT_wire_referenced_pages] -
					n[COUNT_retrans_referenced_pages];
	}
	if (wire)
		tx_copy->bytes = n[COUNT_wire_copied_bytes] - n[COUNT_retrans_copied_bytes] -
				 b->site[SITE_tx_splice].bytes;
	else
		tx_copy->bytes = n[COUNT_accepted_bytes] - tx_reference->bytes -
				 b->site[SITE_tx_splice].bytes;
	tx_copy->calls = n[COUNT_send_calls] - n[COUNT_zerocopy_sends];
}

void ledger_derive(struct record *r)
{
	bool wire = record_wire_known(r);

	derive_books(&r->ledger.total, r->backend, wire);
	for (int i = 0; i < r->ledger.socket_count; i++)
		derive_books(&r->ledger.sockets[i].books, r->backend, wire);
	/* Charged to the reader's socket while the arrival is charged to the sender's: only the
	 * sum can be corrected. */
	r->ledger.total.site[SITE_late_copy].bytes -=
		r->ledger.total.count[COUNT_user_referenced_bytes];
}

/* The reason of the first hook of that question that is not attached. */
static const char *why_not(const struct record *r, const char *question)
{
	for (int i = 0; i < r->probe_count; i++)
		if (!strcmp(r->probes[i].question, question) &&
		    r->probes[i].status != PROBE_ATTACHED)
			return r->probes[i].why;
	return r->backend == BACKEND_NONE ? r->backend_why :
	       "no tracepoint sees it; " GET_TRAMPOLINES;
}

static const char *why_no_wire(const struct record *r)
{
	return why_not(r, record_probe_attached(r, "tx_copy") ? "retransmissions" : "tx_copy");
}

static const char tx_copy_by_wire[] =
	"payload in kernel memory of the skbs that left, less what left twice";

/* Without the wire it is what remains, if everything else is known. */
static enum how how_tx_copy(const struct record *r, const char **why)
{
	*why = tx_copy_by_wire;
	if (record_wire_known(r))
		return HOW_DERIVED;
	*why = "accepted less referenced and spliced";
	if (record_probe_attached(r, "accepted") && record_probe_attached(r, "tx_reference"))
		return HOW_DERIVED;
	*why = why_no_wire(r);
	return HOW_NOT_MEASURED;
}

/* The hook that opens the books of the socket that a site is charged to: without it the site
 * counts nothing at all, whatever its own hook saw. */
static const char *books_opener(const struct record *r, enum site site)
{
	switch (site) {
	case SITE_user_gather:
		return NULL;
	case SITE_rx_copy:
	case SITE_rx_map:
	case SITE_rx_splice:
	case SITE_rx_discard:
		return r->backend == BACKEND_TRAMPOLINE ? "returned" : NULL;
	default:
		return "accepted";
	}
}

static enum how how_known(const struct record *r, enum site site, const char **why)
{
	bool tracepoint = r->backend == BACKEND_TRACEPOINT;
	bool wire = record_wire_known(r);

	const char *opener = books_opener(r, site);

	*why = "";
	if (opener && !record_probe_attached(r, opener)) {
		*why = why_not(r, opener);
		return HOW_NOT_MEASURED;
	}
	if (site == SITE_tx_copy)
		return how_tx_copy(r, why);
	if (site == SITE_tx_reference && tracepoint) {
		*why = wire ? "payload in user pages of the skbs that left, less what left twice"
			    : why_no_wire(r);
		return wire ? HOW_DERIVED : HOW_NOT_MEASURED;
	}
	if (site == SITE_late_copy && tracepoint && record_probe_attached(r, "late_copy")) {
		*why = "arrived in user pages, read from kernel pages";
		return HOW_DERIVED;
	}
	/* A late copy finds its sender by the pin that the reference left. */
	if (site == SITE_late_copy && !record_probe_attached(r, "tx_reference")) {
		*why = why_not(r, "tx_reference");
		return HOW_NOT_MEASURED;
	}
	if (record_probe_attached(r, site_name(site)))
		return HOW_MEASURED;
	/* The flag of recv, seen by the same hook as its return value. */
	if (site == SITE_rx_discard && r->backend == BACKEND_TRAMPOLINE && record_probe_attached(r, "returned"))
		return HOW_MEASURED;
	*why = why_not(r, site_name(site));
	return HOW_NOT_MEASURED;
}

static void pins_fill(struct record *r)
{
	const unsigned long long *n = r->ledger.total.count;
	struct pins *p = &r->pins;

	p->pages = n[COUNT_pinned_pages];
	p->released_pages = n[COUNT_released_pages];
	p->peak_pages = r->ledger.gauges.peak_pages;
	if (r->backend == BACKEND_NONE) {
		snprintf(p->why, WHY_BYTES, "%s", r->backend_why);
		return;
	}
	if (r->backend == BACKEND_TRACEPOINT) {
		p->how = r->sites[SITE_tx_reference].how;
		snprintf(p->why, WHY_BYTES, "pages: frags of the skbs that left; released and peak: "
			 "no tracepoint sees a release, " GET_TRAMPOLINES);
		return;
	}
	p->how = r->sites[SITE_tx_reference].how;
	/* A release is told by the pin that it ends. */
	p->released_how = record_probe_attached(r, "completions") ? p->how : HOW_NOT_MEASURED;
	p->peak_how = p->released_how;
	if (p->how == HOW_NOT_MEASURED)
		snprintf(p->why, WHY_BYTES, "%s", r->sites[SITE_tx_reference].why);
	else if (p->released_how == HOW_NOT_MEASURED)
		snprintf(p->why, WHY_BYTES, "released and peak: %.200s", why_not(r, "completions"));
}

void sites_fill(struct record *r)
{
	for (enum site s = 0; s < SITE_COUNT; s++) {
		const char *why;

		r->sites[s].how = how_known(r, s, &why);
		r->sites[s].tally = r->ledger.total.site[s];
		snprintf(r->sites[s].why, WHY_BYTES, "%s", why);
	}
	pins_fill(r);
}
