// SPDX-License-Identifier: GPL-2.0
/* Puts a run into one sentence: what was copied, how often, and why. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/trace/laws.h"
#include "userspace/trace/text.h"

static double copies_per_byte(const struct record *r)
{
	static const enum site copying[] = { SITE_user_gather, SITE_tx_copy, SITE_late_copy,
					     SITE_reshape, SITE_rx_copy };
	uint64_t copied = 0, accepted = r->ledger.total.count[COUNT_accepted_bytes];

	for (size_t i = 0; i < sizeof(copying) / sizeof(*copying); i++)
		if (r->sites[copying[i]].how != HOW_NOT_MEASURED)
			copied += r->sites[copying[i]].tally.bytes;
	return accepted ? (double)copied / accepted : 0;
}

static void sentence_referenced(const struct record *r, char *text, size_t size)
{
	uint64_t referenced = r->sites[SITE_tx_reference].tally.bytes;
	uint64_t late = r->sites[SITE_late_copy].tally.bytes;
	uint64_t clean = late < referenced ? referenced - late : 0;
	char of[32], sent[32];

	number_text(referenced, of);
	number_text(clean, sent);
	if (r->sites[SITE_late_copy].how == HOW_NOT_MEASURED)
		snprintf(text, size, "%s on %s referenced %s bytes of user memory; whether they were "
			 "copied later was not measured.", r->plan.variant, r->path.kind, of);
	else if (!clean)
		snprintf(text, size, "%s on %s copied every byte after all: 0 of %s bytes were sent "
			 "without a copy, because of %s.", r->plan.variant, r->path.kind, of,
			 r->cause_count ? r->causes[0].name : "an unknown cause");
	else
		snprintf(text, size, "%s on %s sent %s of %s referenced bytes without a copy.",
			 r->plan.variant, r->path.kind, sent, of);
}

static void sentence_copied(const struct record *r, char *text, size_t size)
{
	const unsigned long long *n = r->ledger.total.count;
	uint64_t gathered = r->sites[SITE_user_gather].tally.bytes;

	snprintf(text, size, "%s on %s copied each payload byte %.2f times: %suser to kernel when "
		 "sent, kernel to user when received; %s.", r->plan.variant, r->path.kind,
		 copies_per_byte(r), gathered ? "gathered in user space, " : "",
		 n[COUNT_unset_sends] ? "MSG_ZEROCOPY was ignored because SO_ZEROCOPY is not set" :
					"nothing was referenced");
}

/* The first of the sites that every verdict needs and this run lacks, or NULL. */
static const char *site_missing(const struct record *r)
{
	static const enum site needed[] = { SITE_tx_copy, SITE_tx_reference, SITE_rx_copy };

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (r->sites[needed[i]].how == HOW_NOT_MEASURED)
			return site_name(needed[i]);
	return NULL;
}

void verdict_sentence(const struct record *r, char *text, size_t size)
{
	size_t used;
	int broken = laws_broken(r);

	if (r->backend == BACKEND_NONE)
		snprintf(text, size, "%s on %s ran without probes: nothing was counted.",
			 r->plan.variant, r->path.kind);
	else if (site_missing(r))
		snprintf(text, size, "%s on %s: no verdict, because %s was not measured.",
			 r->plan.variant, r->path.kind, site_missing(r));
	else if (!r->ledger.total.count[COUNT_accepted_bytes])
		snprintf(text, size, "%s on %s: no byte was counted.", r->plan.variant, r->path.kind);
	else if (r->sites[SITE_tx_reference].tally.bytes)
		sentence_referenced(r, text, size);
	else
		sentence_copied(r, text, size);
	used = strlen(text);
	if (broken)
		snprintf(text + used, size - used, " Do not trust this run: %d law%s broken.", broken,
			 broken == 1 ? " is" : "s are");
}
