// SPDX-License-Identifier: GPL-2.0
/* The report's tables of sites and of causes. */
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/report/report_parts.h"

/* From here on there is room for a column more. */
enum { WIDE_COLUMNS = 100 };

/* How many columns amounts take: 9,999,999,999,999 bytes, or 65.5 MB. */
static int amount_columns(const struct report_page *p)
{
	return p->exact ? 17 : 9;
}

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

static void print_site(const struct record *r, enum site s, const struct report_page *p)
{
	const struct site_value *v = &r->sites[s];
	uint64_t messages = record_app(r, END_RECEIVER)->sum.messages;
	char bytes[AMOUNT_BYTES], each[AMOUNT_BYTES] = "-", share[AMOUNT_BYTES], line[128];
	int columns = amount_columns(p), used;

	amount_text(p, v->tally.bytes, bytes);
	share_per_byte(v->tally.bytes, r->derived.total.count[COUNT_accepted_bytes], share);
	used = snprintf(line, sizeof(line), "%-14s %*s ", site_name(s), columns, bytes);
	if (messages)
		snprintf(each, sizeof(each), "%.1f", (double)v->tally.bytes / messages);
	if (p->columns >= WIDE_COLUMNS)
		used += snprintf(line + used, sizeof(line) - used, "%14s ", each);
	used += snprintf(line + used, sizeof(line) - used, "%9s  %-8s  ", share, how_name(v->how));
	print_folded(p->out, p->columns, line, site_meaning(s), used);
}

/* "tx_copy, rx_map" of the sites that are known so and passed by no byte. */
static void names_of_empty(const struct record *r, enum how how, char *names, size_t size)
{
	*names = '\0';
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (r->sites[s].how == how && !r->sites[s].tally.bytes)
			snprintf(names + strlen(names), size - strlen(names), "%s%s", *names ? ", " : "",
				 site_name(s));
}

/* nothing at     user_gather, tx_splice (measured); tx_copy (derived) */
static void print_empty(const struct record *r, const struct report_page *p)
{
	char measured[256], derived[256], line[560];

	names_of_empty(r, HOW_MEASURED, measured, sizeof(measured));
	names_of_empty(r, HOW_DERIVED, derived, sizeof(derived));
	snprintf(line, sizeof(line), "%s%s%s%s%s", measured, *measured ? " (measured)" : "",
		 *measured && *derived ? "; " : "", derived, *derived ? " (derived)" : "");
	if (*line)
		print_labelled(p, "nothing at", line);
}

/*
 * site               bytes  per byte  how       what became of them
 * tx_reference     65.5 MB     1.000  measured  sent from your own pages, by reference
 */
void print_sites(const struct record *r, const struct report_page *p)
{
	char heads[128];
	int used;

	if (r->backend == BACKEND_NONE)
		return;
	used = snprintf(heads, sizeof(heads), "\n%-14s %*s ", "site", amount_columns(p), "bytes");
	if (p->columns >= WIDE_COLUMNS)
		used += snprintf(heads + used, sizeof(heads) - used, "%14s ", "bytes/message");
	snprintf(heads + used, sizeof(heads) - used, "%9s  %-8s  what became of them", "per byte", "how");
	print_heads(p, heads);
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (r->sites[s].how != HOW_NOT_MEASURED && (p->exact || r->sites[s].tally.bytes))
			print_site(r, s, p);
	if (!p->exact)
		print_empty(r, p);
}

static void print_cause(const struct record *r, const struct cause *c, const struct report_page *p)
{
	char bytes[AMOUNT_BYTES], share[AMOUNT_BYTES], calls[AMOUNT_BYTES] = "-";

	amount_text(p, c->tally.bytes, bytes);
	share_text(c->tally.bytes, r->derived.total.count[COUNT_accepted_bytes], share);
	if (c->tally.calls)
		number_text(c->tally.calls, calls);
	fprintf(p->out, "%-28s %-12s %*s %9s %10s\n", c->name, site_name(c->site), amount_columns(p), bytes,
		share, calls);
	print_folded(p->out, p->columns, "    ", c->remedy, 4);
	if (*c->stack)
		print_folded(p->out, p->columns, "    stack: ", c->stack, 11);
}

/*
 * why it was copied            site             bytes   payload      calls
 * local delivery               late_copy      26.2 MB     100 %      1,238
 *     the receiver is on this machine: zero copy cannot pay here, use plain send
 */
void print_causes(const struct record *r, const struct report_page *p)
{
	char heads[128];
	bool any = false;

	for (int i = 0; i < r->cause_count; i++) {
		/* A send that was refused has no bytes: see print_zerocopy. */
		if (!r->causes[i].bytes_known)
			continue;
		snprintf(heads, sizeof(heads), "\n%-28s %-12s %*s %9s %10s", "why it was copied", "site",
			 amount_columns(p), "bytes", "payload", "calls");
		if (!any)
			print_heads(p, heads);
		any = true;
		print_cause(r, &r->causes[i], p);
	}
}
