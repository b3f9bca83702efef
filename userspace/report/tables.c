// SPDX-License-Identifier: GPL-2.0
/* Prints the tables of sites, of causes and of laws, each with the blank line before it but that of laws. */
#include "userspace/report/tables.h"

#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"

/* From here on there is room for a column more. */
enum { WIDE_COLUMNS = 100 };

/* How many columns amounts take: 9,999,999,999,999 bytes, or 65.5 MB. */
static int amount_columns(const struct report_page *p)
{
	return p->exact ? 17 : 9;
}

static void print_site(enum site s, const struct site_value *v, const struct site_texts *texts, bool wide,
		       const struct report_page *p)
{
	char bytes[AMOUNT_BYTES], line[128];
	int used;

	amount_text(p, v->tally.bytes, bytes);
	used = snprintf(line, sizeof(line), "%-14s %*s ", site_name(s), amount_columns(p), bytes);
	if (wide)
		used += snprintf(line + used, sizeof(line) - used, "%14s ", texts->each);
	used += snprintf(line + used, sizeof(line) - used, "%9s  %-8s  ", texts->share, how_name(v->how));
	page_text(p, line, site_meaning(s), used);
}

/* Sites of kernel TLS are told of where it moved a byte. */
static bool tls_moved(const struct site_value sites[SITE_COUNT])
{
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (site_has(s, SITE_OF_TLS) && sites[s].tally.bytes)
			return true;
	return false;
}

/* "tx_copy, rx_map" of the sites that are known so and passed by no byte. */
static void names_of_empty(const struct site_value sites[SITE_COUNT], enum how how, char *names, size_t size)
{
	bool tls = tls_moved(sites);

	*names = '\0';
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (sites[s].how == how && !sites[s].tally.bytes && (tls || !site_has(s, SITE_OF_TLS)))
			snprintf(names + strlen(names), size - strlen(names), "%s%s", *names ? ", " : "",
				 site_name(s));
}

/* nothing at     user_gather, tx_splice (measured); tx_copy (derived) */
static void print_empty(const struct site_value sites[SITE_COUNT], const struct report_page *p)
{
	char measured[256], derived[256], line[560];

	names_of_empty(sites, HOW_MEASURED, measured, sizeof(measured));
	names_of_empty(sites, HOW_DERIVED, derived, sizeof(derived));
	snprintf(line, sizeof(line), "%s%s%s%s%s", measured, *measured ? " (measured)" : "",
		 *measured && *derived ? "; " : "", derived, *derived ? " (derived)" : "");
	if (*line)
		print_labelled(p, "nothing at", line);
}

/*
 * site               bytes  per byte  how       what became of them
 * tx_reference     65.5 MB     1.000  measured  sent from your own pages, by reference
 */
void print_sites(const struct site_value sites[SITE_COUNT], const struct site_texts texts[SITE_COUNT],
		 const char *share_is, const char *each_is, const struct report_page *p)
{
	bool wide = each_is && p->columns >= WIDE_COLUMNS;
	char heads[128];
	int used;

	used = snprintf(heads, sizeof(heads), "\n%-14s %*s ", "site", amount_columns(p), "bytes");
	if (wide)
		used += snprintf(heads + used, sizeof(heads) - used, "%14s ", each_is);
	snprintf(heads + used, sizeof(heads) - used, "%9s  %-8s  what became of them", share_is, "how");
	print_heads(p, heads);
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (sites[s].how != HOW_NOT_MEASURED && (p->exact || sites[s].tally.bytes))
			print_site(s, &sites[s], &texts[s], wide, p);
	if (!p->exact)
		print_empty(sites, p);
}

static void print_cause(const struct cause *c, uint64_t accepted_bytes, const struct report_page *p)
{
	char bytes[AMOUNT_BYTES], share[AMOUNT_BYTES], calls[AMOUNT_BYTES] = "-";

	amount_text(p, c->tally.bytes, bytes);
	share_text(c->tally.bytes, accepted_bytes, share);
	if (c->tally.calls)
		number_text(c->tally.calls, calls);
	fprintf(p->out, "%-28s %-12s %*s %9s %10s\n", c->name, site_name(c->site), amount_columns(p), bytes,
		share, calls);
	page_text(p, "    ", c->remedy, 4);
	if (*c->stack)
		page_text(p, "    stack: ", c->stack, 11);
}

/*
 * why it was copied            site             bytes   payload      calls
 * local delivery               late_copy      26.2 MB     100 %      1,238
 *     the receiver is on this machine, where the kernel copies such pages: ...
 */
void print_causes(const struct measured *m, uint64_t accepted_bytes, const struct report_page *p)
{
	char heads[128];
	bool any = false;

	snprintf(heads, sizeof(heads), "\n%-28s %-12s %*s %9s %10s", "why it was copied", "site",
		 amount_columns(p), "bytes", "payload", "calls");
	for (int i = 0; i < m->cause_count; i++) {
		if (!m->causes[i].bytes_known)
			continue;
		if (!any)
			print_heads(p, heads);
		any = true;
		print_cause(&m->causes[i], accepted_bytes, p);
	}
}

enum { NAME_COLUMNS = 23, SIDE_COLUMNS = 17, RESIDUAL_COLUMNS = 10 };

static void print_law(const struct law *law, const struct report_page *p)
{
	char left[AMOUNT_BYTES], right[AMOUNT_BYTES], residual[AMOUNT_BYTES], sides[320];

	number_text(law->left, left);
	number_text(law->right, right);
	number_text(law->residual, residual);
	if (law->status == LAW_BROKEN)
		tint_begin(p, TINT_BAD);
	fprintf(p->out, "%-*s %-8s %*s %*s %*s", NAME_COLUMNS, law->name, law_status_name(law->status),
		SIDE_COLUMNS, left, SIDE_COLUMNS, right, RESIDUAL_COLUMNS, residual);
	if (law->status == LAW_BROKEN)
		tint_end(p);
	snprintf(sides, sizeof(sides), "left: %s; right: %s", law->left_is, law->right_is);
	fputc('\n', p->out);
	page_text(p, "    ", sides, 4);
	if (law->status == LAW_BROKEN && *law->why)
		page_text(p, "    ", law->why, 4);
}

/*
 * law                                  left             right   residual
 * send                    broken         65,536            65,535          1
 *     left: bytes copied, referenced or spliced; right: bytes that tcp_sendmsg accepted
 */
void print_law_rows(const struct measured *m, const struct report_page *p)
{
	char heads[160];
	bool any = false;

	snprintf(heads, sizeof(heads), "%-*s %-8s %*s %*s %*s", NAME_COLUMNS, "law", "", SIDE_COLUMNS, "left",
		 SIDE_COLUMNS, "right", RESIDUAL_COLUMNS, "residual");
	for (int i = 0; i < m->law_count; i++) {
		if (m->laws[i].status != LAW_BROKEN && !(p->laws && m->laws[i].status == LAW_BALANCED))
			continue;
		if (!any)
			print_heads(p, heads);
		any = true;
		print_law(&m->laws[i], p);
	}
}
