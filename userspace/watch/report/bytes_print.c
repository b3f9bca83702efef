// SPDX-License-Identifier: GPL-2.0
/* The report's tables of sites and causes, and its lines on zero copy. */
#include <inttypes.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/report/report_parts.h"
#include "userspace/watch/summary/figures.h"

enum { MEANING_COLUMN = 47 };

/* Bytes of a sender's site are compared with what was sent, of a receiver's with what it received. */
static struct figure whole_of(const struct watch_movements *m, enum site site)
{
	return site_has(site, SITE_OF_RECEIVER) ? figure_received(m) : figure_sent(m);
}

/*
 * site                 bytes     share  how       what became of them
 * tx_splice          12.1 GB    98.2 %  measured  sent from pages of a file or a pipe, by reference
 */
void print_watched_sites(const struct watch_record *r, const struct page *p)
{
	const struct watch_movements *m = &r->total.moved;
	char nothing[256] = "", heads[96];

	snprintf(heads, sizeof(heads), "\n%-14s %11s %9s  %-8s  what became of them", "site", "bytes", "share",
		 "how");
	page_heads(p, heads);
	for (enum site s = 0; s < SITE_COUNT; s++) {
		struct figure f = figure_site(m, s), whole = whole_of(m, s);
		char bytes[16], share[16], line[96];

		if (r->sites[s].how == HOW_NOT_MEASURED || !f.known)
			continue;
		if (!f.bytes) {
			snprintf(nothing + strlen(nothing), sizeof(nothing) - strlen(nothing), "%s%s",
				 *nothing ? ", " : "", site_name(s));
			continue;
		}
		bytes_text(f.bytes, bytes);
		share_text(f.bytes, whole.known ? whole.bytes : 0, share);
		snprintf(line, sizeof(line), "%-14s %11s %9s  %-8s  ", site_name(s), bytes, share,
			 how_name(r->sites[s].how));
		page_text(p, line, site_meaning(s), MEANING_COLUMN);
	}
	if (*nothing)
		page_text(p, "nothing at     ", nothing, 15);
}

/*
 * why it was copied            site               bytes     share
 * local delivery               late_copy        26.2 MB     100 %
 *     the receiver is on this machine: zero copy cannot pay here, use plain send
 */
void print_watched_causes(const struct watch_record *r, const struct page *p)
{
	struct figure sent = figure_sent(&r->total.moved);
	char heads[96];
	bool any = false;

	snprintf(heads, sizeof(heads), "\n%-28s %-12s %11s %9s", "why it was copied", "site", "bytes", "share");
	for (int i = 0; i < r->cause_count; i++) {
		const struct cause *c = &r->causes[i];
		char bytes[16], share[16];

		/* A send that was refused has no bytes: see print_refusals. */
		if (!c->bytes_known)
			continue;
		if (!any)
			page_heads(p, heads);
		any = true;
		bytes_text(c->tally.bytes, bytes);
		share_text(c->tally.bytes, sent.known ? sent.bytes : 0, share);
		fprintf(p->out, "%-28s %-12s %11s %9s\n", c->name, site_name(c->site), bytes, share);
		page_text(p, "    ", c->remedy, 4);
		if (*c->stack)
			page_text(p, "    stack: ", c->stack, 11);
	}
}

/* "1,312 words", or "words not measured" with the reason. */
static void say_count(const struct watch_record *r, enum count count, const char *what, char *line,
		      size_t size)
{
	struct figure f = figure_count(&r->total.moved, count);
	size_t used = strlen(line);
	char number[32];

	number_text(f.bytes, number);
	if (f.known)
		snprintf(line + used, size - used, "%s%s %s", used ? ", " : "", number, what);
	else
		snprintf(line + used, size - used, "%s%s not measured (%s)", used ? ", " : "", what,
			 r->count_why[count]);
}

static void print_completions(const struct watch_record *r, const struct page *p)
{
	char line[1200] = "";

	say_count(r, COUNT_zerocopy_asked_sends, "asked", line, sizeof(line));
	say_count(r, COUNT_zerocopy_sends, "made", line, sizeof(line));
	say_count(r, COUNT_completed_sends, "completed", line, sizeof(line));
	say_count(r, COUNT_copied_sends, "of them as COPIED", line, sizeof(line));
	page_text(p, "\nzero copy      sends: ", line, 15);
}

static void print_pins(const struct watch_record *r, const struct page *p)
{
	const struct watch_balance *now = &r->total.closing;
	char pages[32], peak[32], line[200];

	number_text(now->item[WATCH_referenced_pages], pages);
	number_text(r->referenced_peak_pages, peak);
	if (!(now->known >> WATCH_referenced_pages & 1))
		snprintf(line, sizeof(line), "pages referenced: not measured, as a queue was not read to its end");
	else
		snprintf(line, sizeof(line), "pages referenced: %s now, %s at most in any reading", pages,
			 peak);
	page_text(p, "               ", line, 15);
}

/*
 * ENOBUFS        3 sends refused, 3 by option memory (net.core.optmem_max), 0 by RLIMIT_MEMLOCK
 *                too many notifications are outstanding: read completions sooner, or raise ...
 */
static void print_refusals(const struct watch_record *r, const struct page *p)
{
	char line[600] = "";

	if (!r->total.moved.count[COUNT_enobufs])
		return;
	say_count(r, COUNT_enobufs, "sends refused", line, sizeof(line));
	say_count(r, COUNT_refused_optmem, "by option memory (net.core.optmem_max)", line, sizeof(line));
	say_count(r, COUNT_refused_memlock, "by RLIMIT_MEMLOCK", line, sizeof(line));
	page_text(p, "ENOBUFS        ", line, 15);
	for (int i = 0; i < r->cause_count; i++)
		if (!r->causes[i].bytes_known)
			page_text(p, "               ", r->causes[i].remedy, 15);
}

void print_watched_zerocopy(const struct watch_record *r, const struct page *p)
{
	const struct watch_movements *m = &r->total.moved;

	if (!m->count[COUNT_zerocopy_asked_sends] && !m->site_bytes[SITE_tx_reference] &&
	    !m->count[COUNT_enobufs] && !r->total.opening.item[WATCH_zerocopy_sends])
		return;
	print_completions(r, p);
	print_pins(r, p);
	print_refusals(r, p);
}
