// SPDX-License-Identifier: GPL-2.0
/* Prints the record as text: verdict, bytes, zero copy, laws, what is missing. */
#include "userspace/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/verdict.h"
#include "userspace/report/missing.h"
#include "userspace/report/report_parts.h"
#include "userspace/report/tables.h"

static void share_per_byte(uint64_t bytes, uint64_t accepted, char text[static AMOUNT_BYTES])
{
	double share = accepted ? (double)bytes / accepted : 0;

	if (!accepted)
		strcpy(text, "-");
	else if (bytes && share < 0.0005)
		strcpy(text, "< 0.001");
	else
		snprintf(text, AMOUNT_BYTES, "%.3f", share);
}

static void print_bytes(const struct record *r, const struct report_page *p)
{
	uint64_t accepted = r->derived.total.count[COUNT_accepted_bytes];
	uint64_t messages = record_app(r, END_RECEIVER)->sum.messages;
	struct site_texts texts[SITE_COUNT] = { 0 };

	for (enum site s = 0; s < SITE_COUNT; s++) {
		uint64_t bytes = r->sites[s].tally.bytes;

		share_per_byte(bytes, accepted, texts[s].share);
		if (messages)
			snprintf(texts[s].each, AMOUNT_BYTES, "%.1f", (double)bytes / messages);
		else
			strcpy(texts[s].each, "-");
	}
	if (r->backend != BACKEND_NONE)
		print_sites(r->sites, texts, "per byte", "bytes/message", p);
	print_causes(r->causes, r->cause_count, accepted, p);
}

/* 22,820 page references in all, 22.8 a send, 797 at once at most; all were released */
static void print_pins(const struct record *r, const struct report_page *p)
{
	const struct pins *pins = &r->pins;
	char pages[AMOUNT_BYTES], released[AMOUNT_BYTES], peak[AMOUNT_BYTES], line[256];
	int used;

	number_text(pins->pages, pages);
	number_text(pins->released_pages, released);
	number_text(pins->peak_pages, peak);
	if (pins->how == HOW_NOT_MEASURED) {
		print_labelled(p, "pins", "not measured");
		return;
	}
	used = snprintf(line, sizeof(line), "%s%s page references in all, %.1f a send",
			pins->how == HOW_DERIVED ? "at most " : "", pages,
			(double)pins->pages / r->derived.total.count[COUNT_zerocopy_sends]);
	if (pins->peak_how != HOW_NOT_MEASURED)
		used += snprintf(line + used, sizeof(line) - used, ", %s at once at most", peak);
	if (pins->released_how != HOW_NOT_MEASURED)
		snprintf(line + used, sizeof(line) - used, "; %s released",
			 pins->released_pages == pins->pages ? "all were" : released);
	print_labelled(p, "pins", line);
}

static void print_completions(const struct record *r, const struct report_page *p)
{
	const struct app_totals *totals = record_app(r, END_SENDER);
	char sends[AMOUNT_BYTES], read[AMOUNT_BYTES], copied[AMOUNT_BYTES], line[160];

	number_text(r->derived.total.count[COUNT_zerocopy_sends], sends);
	number_text(totals->sum.completions, read);
	number_text(totals->sum.completions_copied, copied);
	if (totals->completions_read)
		snprintf(line, sizeof(line), "%s read for %s zero-copy sends, %s said COPIED", read, sends,
			 copied);
	else
		snprintf(line, sizeof(line), "never read by the workload, for %s zero-copy sends", sends);
	print_labelled(p, "completions", line);
}

/* ENOBUFS        1,204 sends were refused (ENOBUFS, memlock): too many pages are in flight: ... */
static void print_refusal(const struct cause *c, bool first, const struct report_page *p)
{
	char sends[AMOUNT_BYTES], line[400];

	number_text(c->tally.calls, sends);
	snprintf(line, sizeof(line), "%s send%s refused and repeated (%s): %s", sends,
		 c->tally.calls == 1 ? " was" : "s were", c->name, c->remedy);
	print_labelled(p, first ? "ENOBUFS" : "", line);
}

static void print_zerocopy(const struct record *r, const struct report_page *p)
{
	bool sends = r->derived.total.count[COUNT_zerocopy_sends];
	int refusals = 0;

	for (int i = 0; i < r->cause_count; i++)
		refusals += !r->causes[i].bytes_known;
	if (!sends && !refusals)
		return;
	fputc('\n', p->out);
	if (sends) {
		print_pins(r, p);
		print_completions(r, p);
	}
	refusals = 0;
	for (int i = 0; i < r->cause_count; i++)
		if (!r->causes[i].bytes_known)
			print_refusal(&r->causes[i], !refusals++, p);
}

/* What there is to say of all of them. */
static void sum_up(int tested, int broken, const struct report_page *p, char *line, size_t size)
{
	if (!tested)
		snprintf(line, size, "none could be tested");
	else if (broken)
		snprintf(line, size, "%d of the %d that can be tested %s broken: do not trust this run", broken,
			 tested, broken == 1 ? "is" : "are");
	else
		snprintf(line, size, "%s %d law%s that can be tested balance%s to the byte%s",
			 tested == 1 ? "the" : "all", tested, tested == 1 ? "" : "s",
			 tested == 1 ? "s" : "", p->laws ? "" : "; --laws lists them");
}

/*
 * laws           all 11 laws that can be tested balance to the byte; --laws lists them
 */
static void print_laws(const struct record *r, const struct report_page *p)
{
	int tested = 0, broken = 0;
	char line[160];

	for (int i = 0; i < r->law_count; i++) {
		tested += r->laws[i].status != LAW_NOT_TESTABLE;
		broken += r->laws[i].status == LAW_BROKEN;
	}
	if (!tested && r->backend == BACKEND_NONE)
		return;
	sum_up(tested, broken, p, line, sizeof(line));
	fputc('\n', p->out);
	tint_begin(p, broken ? TINT_BAD : tested ? TINT_GOOD : TINT_BOLD);
	print_labelled(p, "laws", line);
	tint_end(p);
	print_law_rows(r->laws, r->law_count, p);
}

/* How many pages were pinned at once, and whether all were released. */
static void find_pins(const struct record *r, struct lacks *all)
{
	struct lack *lack;

	if (!r->derived.total.count[COUNT_zerocopy_sends] || r->pins.released_how != HOW_NOT_MEASURED ||
	    !*r->pins.why)
		return;
	lack = lack_for(all, r->pins.why);
	lack_name(lack->sites, r->pins.how == HOW_NOT_MEASURED ? "pins" : "pins held at once and released");
}

static void find_counters(const struct record *r, struct lacks *all)
{
	struct pass_view pass = record_shown(r);
	struct lack *lack;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_value *tx = &pass.counters[END_SENDER][i];

		if (tx->known || pass.counters[END_RECEIVER][i].known)
			continue;
		lack = lack_for(all, tx->why);
		lack_name(lack->counters, counter_name(i));
		lack->counter_count++;
	}
}

/* The kernel may run no program while certain tasks are current: perf's count of the packets tells. */
static void find_unchecked(const struct record *r, struct lacks *all)
{
	for (int i = 0; i < r->probe_count; i++) {
		const struct probe *p = &r->probes[i];
		struct lack *lack;

		if (p->status != PROBE_ATTACHED || p->perf_checked || strcmp(p->metric, "tx_copy"))
			continue;
		lack = lack_for(all, "perf counts no packets beside the programs, as it or tracefs refuses");
		lack_name(lack->sites, "whether a program ran for every packet");
		return;
	}
}

/*
 * not seen       tx_splice, reshape, rx_map; laws completion, pin: this kernel's tracepoints ...
 */
static void print_missing(const struct record *r, const struct report_page *p)
{
	struct missing missing = { .page = p };
	static struct lacks all;

	all.count = 0;
	lacks_of_sites(&all, r->sites);
	find_pins(r, &all);
	/* Without probes most laws lack for the same reason, in the words of each. */
	if (r->backend != BACKEND_NONE)
		lacks_of_laws(&all, r->sites, r->laws, r->law_count);
	find_counters(r, &all);
	find_unchecked(r, &all);
	print_lacks(&missing, &all);
}

static void print_verdict(const struct record *r, const struct report_page *p)
{
	char verdict[VERDICT_BYTES];

	verdict_told(r, p->exact, verdict, sizeof(verdict));
	page_tinted(p, verdict_passed(r) ? TINT_BOLD : TINT_BAD, "", verdict, 0);
}

static void add_kernel(char *line, size_t size, const char *before, const struct record *r)
{
	bool none = r->backend == BACKEND_NONE;
	size_t used = strlen(line);

	snprintf(line + used, size - used, "%skernel %s, %s%s", before, r->machine.kernel,
		 none ? "no probes" : backend_name(r->backend), none ? "" : " backend");
}

/* 1,000 messages of 65,536 bytes, 4 connections, stream, path veth, kernel 6.12.95, trampoline backend */
static void print_head(const struct record *r, const struct report_page *p)
{
	const struct experiment *x = r->experiment;
	const struct record *far = record_far(r);
	char messages[AMOUNT_BYTES], bytes[AMOUNT_BYTES], line[384];

	number_text(record_app(r, END_RECEIVER)->sum.messages, messages);
	number_text(x->plan.bytes, bytes);
	snprintf(line, sizeof(line), "%s message%s of %s bytes, %d connection%s, %s, path %s, ", messages,
		 strcmp(messages, "1") ? "s" : "", bytes, x->plan.threads, x->plan.threads == 1 ? "" : "s",
		 x->plan.pattern, x->path.kind);
	add_kernel(line, sizeof(line), "", r);
	if (far)
		add_kernel(line, sizeof(line), "; to ", far);
	page_text(p, "\n", line, 0);
}

void report_print(const struct record *r, const struct report_page *p)
{
	print_verdict(r, p);
	print_head(r, p);
	print_timing(r, p);
	print_bytes(r, p);
	print_zerocopy(r, p);
	print_laws(r, p);
	print_counters(r, p);
	print_modelled(r, p);
	print_costs(r, p);
	print_overhead(r, p);
	print_missing(r, p);
}
