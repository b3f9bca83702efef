// SPDX-License-Identifier: GPL-2.0
/* The report's lines on zero copy: pages pinned, completions, sends that were refused. */
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/report/report_parts.h"

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

void print_zerocopy(const struct record *r, const struct report_page *p)
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
