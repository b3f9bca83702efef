// SPDX-License-Identifier: GPL-2.0
/* Puts a run into one sentence: what was copied, how often, and why. */
#include "userspace/judge/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/copied.h"
#include "userspace/judge/laws.h"
#include "userspace/judge/sites.h"
#include "userspace/record/experiment.h"
#include "userspace/tables/variants.h"

/* Of the machines whose kernels are tested. */
enum { MAPPED_PAGE_BYTES = 4096 };

static uint64_t bytes_at(const struct record *r, enum site site)
{
	return r->sites[site].how == HOW_NOT_MEASURED ? 0 : r->sites[site].tally.bytes;
}

static double copies_per_byte(const struct record *r)
{
	uint64_t copied = 0, accepted = books_accepted(&r->derived.total);

	for (enum site s = 0; s < SITE_COUNT; s++)
		if (site_has(s, SITE_COPIES))
			copied += bytes_at(r, s);
	return accepted ? (double)copied / accepted : 0;
}

/* Bytes of the packets themselves that were copied on their way, without a capture's clones. */
static uint64_t copied_on_the_way(const struct record *r)
{
	const unsigned long long *n = r->derived.total.count;
	uint64_t late = r->sites[SITE_late_copy].tally.bytes;

	late -= n[COUNT_tapped_bytes] < late ? n[COUNT_tapped_bytes] : late;
	return late + n[COUNT_reshaped_referenced_bytes];
}

/* The chief cause of copies of the packets themselves: causes are listed by cost, and a capture on
 * tx copies clones. */
static const char *reason(const struct record *r)
{
	for (int i = 0; i < r->cause_count; i++)
		if ((r->causes[i].site == SITE_late_copy || r->causes[i].site == SITE_reshape) &&
		    strcmp(r->causes[i].name, "packet tap on tx"))
			return r->causes[i].name;
	return "an unknown cause";
}

/* Referenced bytes that nobody copied on their way. */
static uint64_t sent_clean(const struct record *r)
{
	uint64_t referenced = r->sites[SITE_tx_reference].tally.bytes, copied = copied_on_the_way(r);

	return copied < referenced ? referenced - copied : 0;
}

/* "65,536,000 bytes" */
static void amount(uint64_t bytes, char text[static 40])
{
	number_text(bytes, text);
	strcat(text, bytes == 1 ? " byte" : " bytes");
}

static void add_sentence(char *text, size_t size, const char *format, uint64_t a, uint64_t b)
{
	size_t used = strlen(text);
	char first[32], second[32];

	number_text(a, first);
	number_text(b, second);
	snprintf(text + used, size - used, format, first, second);
}

/* Warnings: completions that do not report copies, and a capture beside the path. */
static void add_reservations(const struct record *r, bool all_copied, char *text, size_t size)
{
	const struct app_totals *totals = record_app(r, END_SENDER);
	const struct app_socket *app = &totals->sum;
	uint64_t tapped = r->derived.total.count[COUNT_tapped_bytes];
	char beside[40];

	if (all_copied && totals->completions_read &&
	    app->completions_copied < app->completions)
		add_sentence(text, size, " Yet %s of %s completions did not carry COPIED.",
			     app->completions - app->completions_copied, app->completions);
	amount(tapped, beside);
	if (tapped)
		snprintf(text + strlen(text), size - strlen(text), " A packet capture copied %s beside them.",
			 beside);
	else if (record_tapped(r) && r->backend == BACKEND_TRACEPOINT)
		snprintf(text + strlen(text), size - strlen(text),
			 " What the packet capture copied was not measured: no tracepoint sees it.");
}

/* "Not copied" is known only where all functions that may copy were watched. */
static bool clean_is_known(const struct record *r)
{
	const struct path_info *path = &r->experiment->path;

	return path->hardware_dma ? record_probe_attached(r, "clean") :
				    r->sites[SITE_reshape].how != HOW_NOT_MEASURED || path->scatter_gather;
}

/* "36,000 of 36,837 bytes" */
static void part_of(uint64_t part, uint64_t whole, char text[static 80])
{
	char first[40], second[40];

	number_text(part, first);
	amount(whole, second);
	snprintf(text, 80, "%s of %s", first, second);
}

static bool copies_are_known(const struct record *r)
{
	/* Where arrivals stand for copies, the kernel's completions know better: a capture copies before. */
	if (copies_denied(r))
		return false;
	return r->sites[SITE_late_copy].how != HOW_NOT_MEASURED && (!sent_clean(r) || clean_is_known(r));
}

/* Why TCP_ZEROCOPY_RECEIVE found no page (net/ipv4/tcp.c, can_map_frag). */
static void why_unmapped(const struct record *r, char *text, size_t size)
{
	const struct path_info *path = &r->experiment->path;
	const struct workload_plan *plan = &r->experiment->plan;
	int headers = path->ipv6 ? 72 : 52, payload = path->mtu - headers;

	if (plan->bytes < MAPPED_PAGE_BYTES)
		snprintf(text, size, "a message here is shorter than a page");
	else if (path->hardware_dma)
		snprintf(text, size, "which ones a NIC receives is up to its driver");
	else if (variant_has(plan->variant, VARIANT_SPLICES))
		snprintf(text, size, "pages of a file or a pipe are not free to be mapped");
	else if (!variant_has(plan->variant, VARIANT_REFERENCES))
		snprintf(text, size, "send copies into larger ones");
	else if (payload % MAPPED_PAGE_BYTES)
		snprintf(text, size, "packets of MTU %d carry %d bytes, which fill none or part of one (--mtu %d "
			 "fills 15)", path->mtu, payload, 15 * MAPPED_PAGE_BYTES + headers);
	else
		snprintf(text, size, "no packet had one");
}

/* How the reader took the bytes, where it did more or less than copy each once. */
static void add_reads(const struct record *r, char *text, size_t size)
{
	const struct books *total = &r->derived.total;
	char bytes[40], why[160], mapped[80];
	enum site pages = site_of_pages(r);

	amount(total->count[COUNT_peeked_bytes], bytes);
	if (total->count[COUNT_peeked_bytes])
		snprintf(text + strlen(text), size - strlen(text),
			 " Peeks (MSG_PEEK) copied %s to the reader, which recv then copied again.", bytes);
	if (pages == SITE_COUNT || r->sites[pages].how == HOW_NOT_MEASURED)
		return;
	amount(bytes_at(r, pages), bytes);
	part_of(bytes_at(r, pages), total->count[COUNT_returned_bytes], mapped);
	why_unmapped(r, why, sizeof(why));
	if (pages == SITE_rx_splice)
		snprintf(text + strlen(text), size - strlen(text), " The reader spliced %s out as pages.", bytes);
	else if (bytes_at(r, pages))
		snprintf(text + strlen(text), size - strlen(text), " TCP_ZEROCOPY_RECEIVE mapped %s; recv copied "
			 "what was left.", mapped);
	else
		snprintf(text + strlen(text), size - strlen(text), " TCP_ZEROCOPY_RECEIVE mapped nothing: it "
			 "takes single pages that a packet fills; %s.", why);
}

static void sentence_referenced(const struct record *r, char *text, size_t size)
{
	struct subject_name subject = record_subject(r);
	uint64_t referenced = r->sites[SITE_tx_reference].tally.bytes;
	uint64_t clean = sent_clean(r);
	char all[40], sent[80];

	amount(referenced, all);
	part_of(clean, referenced, sent);
	if (!copies_are_known(r))
		snprintf(text, size, "%s referenced %s of user memory; whether they were copied later was not "
			 "measured.", subject.text, all);
	else if (!clean)
		snprintf(text, size, "%s copied every byte after all: %s were sent without a copy, because "
			 "of %s.", subject.text, sent, reason(r));
	else if (!copied_on_the_way(r))
		snprintf(text, size, "%s copied nothing on the way out: all %s of referenced memory were sent "
			 "without a copy.", subject.text, all);
	else
		snprintf(text, size, "%s sent %s of referenced memory without a copy; the others were copied, "
			 "most of them because of %s.", subject.text, sent, reason(r));
	add_reservations(r, !clean, text, size);
}

/* Which copies were made, as ", gathered in user space, user to kernel when sent". */
static void moves_made(const struct record *r, char *text, size_t size)
{
	static const struct { enum site site; const char *words; } moves[] = {
		{ SITE_user_gather, "gathered in user space" },
		{ SITE_tx_copy, "user to kernel when sent" },
		{ SITE_tls_copy, "into TLS records when sent" },
		{ SITE_late_copy, "on its way" },
		{ SITE_reshape, "between buffers of packets" },
		{ SITE_rx_copy, "kernel to user when received" },
	};

	*text = '\0';
	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++)
		if (bytes_at(r, moves[i].site))
			snprintf(text + strlen(text), size - strlen(text), ", %s", moves[i].words);
}

static void sentence_copied(const struct record *r, char *text, size_t size)
{
	uint64_t spliced = bytes_at(r, SITE_tx_splice), dropped = bytes_at(r, SITE_rx_discard);
	char left[120] = "nothing was referenced", moves[160], pages[40], unread[40], uncopied[40];

	amount(spliced, pages);
	amount(dropped, unread);
	amount(bytes_at(r, SITE_tls_reference) + bytes_at(r, SITE_tls_splice), uncopied);
	moves_made(r, moves, sizeof(moves));
	if (r->derived.total.count[COUNT_unset_sends])
		snprintf(left, sizeof(left), "MSG_ZEROCOPY was ignored because SO_ZEROCOPY is not set");
	else if (bytes_at(r, SITE_tls_encrypt))
		snprintf(left, sizeof(left), "kernel TLS encrypted %s from where they lay", uncopied);
	else if (spliced)
		snprintf(left, sizeof(left), "%s left as pages of a file or of a pipe", pages);
	if (*moves)
		snprintf(text, size, "%s copied each payload byte %.2f times: %s; %s", record_subject(r).text,
			 copies_per_byte(r), moves + 2, left);
	else
		snprintf(text, size, "%s copied no payload byte%s; %s", record_subject(r).text,
			 r->sites[SITE_reshape].how == HOW_NOT_MEASURED ? " where that was measured (reshape was not)" :
									  "", left);
	if (dropped)
		snprintf(text + strlen(text), size - strlen(text), "; %s were dropped unread", unread);
	snprintf(text + strlen(text), size - strlen(text), ".");
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

/* The counts are in the record; a verdict on the variant needs a run that went as requested. */
static void sentence_incomplete(const struct record *r, char *text, size_t size)
{
	static const char *const what[] = {
		[RUN_FAILED] = "The run failed",
		[RUN_INTERRUPTED] = "The run was interrupted",
		[RUN_BLIND] = "The probes did not see the whole run",
	};
	const struct workload_plan *plan = &r->experiment->plan;
	bool alternates = *plan->alternate;

	snprintf(text, size, "%s: %s; no verdict on %s, %s.", what[r->outcome.status], r->outcome.reason,
		 alternates ? plan->alternate : plan->variant, alternates ? "in turns" : variant_call(plan->variant));
}

/* What a verdict is about. */
enum verdict_kind { OF_NOTHING, OF_REFERENCES, OF_COPIES };

static enum verdict_kind kind_of(const struct record *r)
{
	if (r->outcome.status != RUN_COMPLETE || r->backend == BACKEND_NONE || site_missing(r) ||
	    !r->derived.total.count[COUNT_accepted_bytes])
		return OF_NOTHING;
	return r->sites[SITE_tx_reference].tally.bytes ? OF_REFERENCES : OF_COPIES;
}

static void sentence_of_nothing(const struct record *r, char *text, size_t size)
{
	if (r->outcome.status != RUN_COMPLETE)
		sentence_incomplete(r, text, size);
	else if (r->backend == BACKEND_NONE)
		snprintf(text, size, "%s ran without probes: nothing was counted.",
			 record_subject(r).text);
	else if (site_missing(r))
		snprintf(text, size, "%s: no verdict, because %s was not measured.",
			 record_subject(r).text, site_missing(r));
	else
		snprintf(text, size, "%s: no byte was counted.", record_subject(r).text);
}

void verdict_sentence(const struct record *r, char *text, size_t size)
{
	enum verdict_kind kind = kind_of(r);
	int broken = laws_broken(r->laws, r->law_count);
	size_t used;

	if (kind == OF_REFERENCES)
		sentence_referenced(r, text, size);
	else if (kind == OF_COPIES)
		sentence_copied(r, text, size);
	else
		sentence_of_nothing(r, text, size);
	if (kind != OF_NOTHING)
		add_reads(r, text, size);
	used = strlen(text);
	if (broken)
		snprintf(text + used, size - used, " Do not trust this run: %d law%s broken.", broken,
			 broken == 1 ? " is" : "s are");
}

bool verdict_passed(const struct record *r)
{
	return r->outcome.status == RUN_COMPLETE && !laws_broken(r->laws, r->law_count);
}

void verdict_fill(const struct record *r, struct verdict *v)
{
	enum verdict_kind kind = kind_of(r);

	*v = (struct verdict){ .passed = verdict_passed(r), .laws_broken = laws_broken(r->laws, r->law_count) };
	verdict_sentence(r, v->sentence, sizeof(v->sentence));
	v->copies_known = kind == OF_COPIES;
	v->referenced_known = kind == OF_REFERENCES;
	v->uncopied_known = kind == OF_REFERENCES && copies_are_known(r);
	v->copies_per_byte = v->copies_known ? copies_per_byte(r) : 0;
	v->referenced_bytes = v->referenced_known ? r->sites[SITE_tx_reference].tally.bytes : 0;
	v->uncopied_bytes = v->uncopied_known ? sent_clean(r) : 0;
	v->chief_cause = v->uncopied_known && v->uncopied_bytes < v->referenced_bytes ? reason(r) : NULL;
}
