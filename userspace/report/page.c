// SPDX-License-Identifier: GPL-2.0
/* Lays out amounts, labels, heads and colours of a report. */
#include "userspace/report/page.h"

#include "userspace/common/text.h"

void amount_text(const struct report_page *p, uint64_t bytes, char text[static AMOUNT_BYTES])
{
	if (p->exact)
		number_text(bytes, text);
	else
		bytes_text(bytes, text);
}

void elapsed_text(const struct report_page *p, double ns, char text[static AMOUNT_BYTES])
{
	if (p->exact)
		snprintf(text, AMOUNT_BYTES, "%.9f s", ns / 1e9);
	else
		duration_text(ns, text);
}

void page_text(const struct report_page *p, const char *first, const char *text, int indent)
{
	print_folded(p->out, p->columns, first, text, indent);
}

void print_labelled(const struct report_page *p, const char *label, const char *text)
{
	char first[LABEL_COLUMNS + 1];

	snprintf(first, sizeof(first), "%-*s", LABEL_COLUMNS, label);
	page_text(p, first, text, LABEL_COLUMNS);
}

void tint_begin(const struct report_page *p, enum tint tint)
{
	if (p->colours)
		fputs(terminal_tint(tint), p->out);
}

void tint_end(const struct report_page *p)
{
	tint_begin(p, TINT_END);
}

void page_tinted(const struct report_page *p, enum tint tint, const char *first, const char *text, int indent)
{
	tint_begin(p, tint);
	page_text(p, first, text, indent);
	tint_end(p);
}

void print_heads(const struct report_page *p, const char *heads)
{
	tint_begin(p, TINT_BOLD);
	fputs(heads, p->out);
	tint_end(p);
	fputc('\n', p->out);
}
