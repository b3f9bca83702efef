// SPDX-License-Identifier: GPL-2.0
/* Says of each count of a run which hook feeds it, and whether that was there. */
#include "userspace/judge/counts.h"

#include "userspace/judge/sources.h"
#include "userspace/record/experiment.h"

static const char untold[] = "no tracepoint tells of it";

/* The hook that feeds a count, by backend; NULL: none does. What is not here needs no hook, or a rule below. */
static const struct feed {
	const char *trampoline, *tracepoint;
} feeds[COUNT_COUNT] = {
#define BOTH(metric) { metric, metric }
	[COUNT_send_calls ... COUNT_accepted_bytes] = BOTH("accepted"),
	[COUNT_recv_calls ... COUNT_returned_bytes] = BOTH("returned"),
	[COUNT_zerocopy_asked_sends ... COUNT_nosg_bytes] = BOTH("accepted"),
	[COUNT_fastopen_sends ... COUNT_fastopen_bytes] = { "fast open", NULL },
	[COUNT_enobufs] = BOTH("accepted"),
	[COUNT_refused_optmem] = { "optmem", NULL },
	[COUNT_refused_memlock] = { "refusals", NULL },
	[COUNT_user_referenced_bytes] = { NULL, "rx_copy" },
	[COUNT_clean_bytes] = BOTH("clean"),
	[COUNT_reshaped_referenced_bytes] = { "reshape", NULL },
	[COUNT_dropped_referenced_bytes ... COUNT_dropped_bytes] = BOTH("drops"),
	[COUNT_truncated_bytes] = { "returned", NULL },
	[COUNT_tapped_bytes] = { "taps", NULL },
	[COUNT_peeked_bytes] = BOTH("rx_discard"),
	[COUNT_tls_accepted_bytes ... COUNT_tls_sent_overhead_bytes] = { "TLS accepted", NULL },
	[COUNT_tls_received_bytes ... COUNT_tls_received_overhead_bytes] = { "TLS records", NULL },
#undef BOTH
};

static const char *of_site(enum how how, const char *why)
{
	return how == HOW_NOT_MEASURED ? why : NULL;
}

static bool is_of_referenced_pages(enum count count)
{
	return count == COUNT_clean_bytes || count == COUNT_reshaped_referenced_bytes ||
	       count == COUNT_dropped_referenced_bytes || count == COUNT_tapped_bytes;
}

/* Of nothing that could happen in this run there was none. */
static bool cannot_be(const struct record *r, enum count count)
{
	const struct workload_plan *p = &r->experiment->plan;
	const struct site_value *reference = &r->sites[SITE_tx_reference];
	bool none = reference->how != HOW_NOT_MEASURED && !reference->tally.bytes;

	return (none && is_of_referenced_pages(count)) ||
	       (count == COUNT_clean_bytes && !r->experiment->path.hardware_dma) ||
	       ((count == COUNT_dropped_bytes || count == COUNT_truncated_bytes) && !plan_sends_datagrams(p)) ||
	       (count >= COUNT_tls_accepted_bytes && !plan_has_tls(p));
}

static const char *lacks_hook(const struct record *r, const char *metric)
{
	if (!metric)
		return r->backend == BACKEND_TRACEPOINT ? untold :
		       "late copies are counted where they are made, which needs no such number";
	return record_probe_attached(r, metric) ? NULL :
	       why_absent(&r->measured, metric, untold) ?: "the other host has no hook for it";
}

static const char *lacks_packets(const struct record *r)
{
	return lacks_hook(r, "tx_copy") ?: (record_wire_known(r) ? NULL : "the probes missed packets");
}

const char *count_lacks(const struct record *r, enum count count)
{
	const struct feed *feed = &feeds[count];

	if (r->backend == BACKEND_NONE)
		return r->backend_why;
	if (cannot_be(r, count))
		return NULL;
	switch (count) {
	case COUNT_pinned_pages:
		return of_site(r->pins.how, r->pins.why);
	case COUNT_released_pages:
		return of_site(r->pins.released_how, r->pins.why);
	case COUNT_completed_sends:
	case COUNT_copied_sends:
		return lacks_hook(r, metric_of_completions(r));
	case COUNT_map_calls:
		return of_site(r->sites[SITE_rx_map].how, r->sites[SITE_rx_map].why);
	case COUNT_wire_copied_bytes ... COUNT_retrans_referenced_pages:
	case COUNT_mixed_bytes:
		return lacks_packets(r);
	default:
		return lacks_hook(r, r->backend == BACKEND_TRACEPOINT ? feed->tracepoint : feed->trampoline);
	}
}

uint64_t counts_known(const struct record *r)
{
	uint64_t known = 0;

	for (enum count c = 0; c < COUNT_COUNT; c++)
		known |= (uint64_t)!count_lacks(r, c) << c;
	return known;
}
