// SPDX-License-Identifier: GPL-2.0
/* The laws of the kernel's counts alone. */
#include <inttypes.h>
#include <stdio.h>

#include "userspace/judge/laws/laws_parts.h"
#include "userspace/record/experiment.h"

enum { TERMS_BYTES = 256 };

/* The bytes of all sites with these traits. */
static int64_t sum_of_sites(const struct books *b, unsigned int traits)
{
	uint64_t terms[SITE_COUNT];
	size_t count = 0;

	for (enum site s = 0; s < SITE_COUNT; s++)
		if (site_has(s, traits))
			terms[count++] = b->site[s].bytes;
	return sum_of(terms, count);
}

/* Their names, as in "tx_copy + tx_reference + tx_splice". */
static const char *name_sites(char text[TERMS_BYTES], unsigned int traits)
{
	size_t used = 0;

	for (enum site s = 0; s < SITE_COUNT && used < TERMS_BYTES; s++)
		if (site_has(s, traits))
			used += snprintf(text + used, TERMS_BYTES - used, "%s%s", used ? " + " : "",
					 site_name(s));
	return text;
}

static struct sides send_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_accepted_bytes], sum_of_sites(b, SITE_SENDS) };
}

static struct sides reference_sides(const struct books *b)
{
	const unsigned long long *n = b->count;

	/* A capture's clone is one more set of references, which ends as a copy like any other. */
	return (struct sides){ SUM(b->site[SITE_late_copy].bytes,
				   n[COUNT_reshaped_referenced_bytes], n[COUNT_clean_bytes],
				   n[COUNT_dropped_referenced_bytes]),
			       SUM(b->site[SITE_tx_reference].bytes,
				   n[COUNT_retrans_referenced_bytes], n[COUNT_tapped_bytes],
				   n[COUNT_mixed_bytes]) };
}

static struct sides receive_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_returned_bytes], sum_of_sites(b, SITE_READS) };
}

static struct sides completion_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_zerocopy_sends], b->count[COUNT_completed_sends] };
}

static struct sides pin_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_pinned_pages], b->count[COUNT_released_pages] };
}

static struct sides refusal_sides(const struct books *b)
{
	return (struct sides){ b->count[COUNT_enobufs],
			       SUM(b->count[COUNT_refused_optmem],
				   b->count[COUNT_refused_memlock]) };
}

static const char missed[] = "the probes missed packets (see the law of the probes)";

static const char *obstacle_to_send(const struct record *r)
{
	if (!record_probe_attached(r, "accepted"))
		return "accepted bytes are not measured";
	if (r->sites[SITE_tx_copy].how == HOW_NOT_MEASURED)
		return "tx_copy is not measured";
	if (record_missed_hits(r, "tx_copy"))
		return missed;
	if (!record_wire_known(r))
		return "true by construction: tx_copy is the rest, as no probe sees packets";
	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	return NULL;
}

static const char *obstacle_to_reference(const struct record *r)
{
	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	if (r->sites[SITE_late_copy].how == HOW_NOT_MEASURED)
		return "late_copy is not measured";
	if (!record_probe_attached(r, "tx_copy"))
		return "bytes that left the socket again are not measured";
	if (record_missed_hits(r, NULL))
		return missed;
	if (!record_probe_attached(r, "drops"))
		return "packets dropped on the way are not measured";
	if (r->experiment->path.hardware_dma && !record_probe_attached(r, "clean"))
		return "bytes handed to the device clean are not measured";
	if (r->backend == BACKEND_TRAMPOLINE && !record_probe_attached(r, "taps"))
		return "bytes shown to packet captures are not measured";
	if (r->backend == BACKEND_TRAMPOLINE ? !record_probe_attached(r, "reshape") :
					       !r->experiment->path.scatter_gather)
		return "reshape is not measured: for a device that cannot gather the kernel copies pages there";
	if (!record_probe_attached(r, "late_copy") ||
	    (r->backend == BACKEND_TRACEPOINT && !record_wire_known(r)))
		return "true by construction: no probe sees the packets that arrive";
	return NULL;
}

static const char *obstacle_to_completion(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT)
		return "completions inside the kernel are not measured: needs the trampoline backend";
	if (!record_probe_attached(r, "completions") || !record_probe_attached(r, "accepted"))
		return "completions are not measured";
	/* A completion finds its socket by the pin that a reference left. */
	if (r->sites[SITE_tx_reference].how == HOW_NOT_MEASURED)
		return "tx_reference is not measured";
	return NULL;
}

static const char *obstacle_to_pin(const struct record *r)
{
	return r->pins.how == HOW_NOT_MEASURED || r->pins.released_how == HOW_NOT_MEASURED ?
		       "the release of pages is not measured: needs the trampoline backend" :
		       NULL;
}

static const char *obstacle_to_refusal(const struct record *r)
{
	if (r->backend == BACKEND_TRACEPOINT)
		return "refused notifications are not measured: needs the trampoline backend";
	if (!record_probe_attached(r, "refusals") || !record_probe_attached(r, "accepted"))
		return "refused notifications are not measured";
	return NULL;
}

void law_send(const struct record *r, struct law *law)
{
	static char terms[TERMS_BYTES];

	law->left_is = "accepted by tcp_sendmsg";
	law->right_is = name_sites(terms, SITE_SENDS);
	law_weigh_books(r, law, send_sides, obstacle_to_send(r));
}

void law_reference(const struct record *r, struct law *law)
{
	law->left_is = "referenced bytes copied late, reshaped, sent clean or dropped";
	law->right_is = "tx_reference + sent again + shown to captures + copied into their packets";
	law_weigh_books(r, law, reference_sides, obstacle_to_reference(r));
}

void law_receive(const struct record *r, struct law *law)
{
	static char terms[TERMS_BYTES];

	law->left_is = "returned by recv";
	law->right_is = name_sites(terms, SITE_READS);
	law_weigh_books(r, law, receive_sides,
			r->sites[SITE_rx_copy].how == HOW_NOT_MEASURED ? "rx_copy is not measured" :
			!record_probe_attached(r, "returned") ? "returned bytes are not measured" :
								NULL);
}

void law_completion(const struct record *r, struct law *law)
{
	law->left_is = "zero-copy sends";
	law->right_is = "sends completed";
	law_weigh_books(r, law, completion_sides, obstacle_to_completion(r));
}

void law_pin(const struct record *r, struct law *law)
{
	law->left_is = "pages pinned";
	law->right_is = "pages released";
	law_weigh_books(r, law, pin_sides, obstacle_to_pin(r));
}

void law_refusal(const struct record *r, struct law *law)
{
	law->left_is = "sends that got ENOBUFS";
	law->right_is = "notifications refused";
	law_weigh_books(r, law, refusal_sides, obstacle_to_refusal(r));
}

/* The causes of a site and the site itself are counted apart: a stack that found no room, or a
 * cause that is listed twice or not at all, shows here. */
static void law_of_causes(const struct record *r, struct law *law, enum site site)
{
	struct sides sum = { .left = r->sites[site].tally.bytes };

	law->left_is = site_name(site);
	law->right_is = "the sum of its causes";
	if (r->sites[site].how != HOW_MEASURED) {
		snprintf(law->why, WHY_BYTES, r->sites[site].how == HOW_DERIVED ?
			 "true by construction: tracepoints show no stacks, so a rule gives all of it one cause" :
			 "%s is not measured", law->left_is);
		return;
	}
	for (int i = 0; i < r->cause_count; i++)
		if (r->causes[i].site == site)
			sum.right = SUM(sum.right, r->causes[i].tally.bytes);
	law_weigh(law, sum);
}

void law_causes_of_late_copy(const struct record *r, struct law *law)
{
	law_of_causes(r, law, SITE_late_copy);
}

void law_causes_of_reshape(const struct record *r, struct law *law)
{
	law_of_causes(r, law, SITE_reshape);
}

void law_probes(const struct record *r, struct law *law)
{
	uint64_t missed_hits = record_missed_hits(r, NULL);

	law->left_is = "map updates lost and program runs skipped";
	law->right_is = "none";
	if (r->backend == BACKEND_NONE) {
		law_say_why(law, r->backend_why);
		return;
	}
	law_weigh(law, (struct sides){ SUM(r->derived.gauges.lost_updates, record_missed(r)), 0 });
	if (law->status == LAW_BROKEN || !missed_hits)
		return;
	/* No update was lost, but probes missed hits: the laws that need them are not testable
	 * either. */
	law->status = LAW_NOT_TESTABLE;
	snprintf(law->why, WHY_BYTES,
		 "the probes missed %" PRIu64 " events: this kernel runs no BPF program while certain tasks "
		 "are current", missed_hits);
}
