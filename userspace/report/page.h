/* SPDX-License-Identifier: GPL-2.0 */
/* The page of a report, of a run or of a watch: how wide and exact it is, and what looks the same all over it. */
#ifndef COPYSCOPE_REPORT_PAGE_H
#define COPYSCOPE_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "userspace/common/terminal.h"

/* Where a report goes, and how it looks there. */
struct report_page {
	FILE *out;
	int columns;
	bool colours;
	bool exact;	/* every digit, and a row for each site, instead of numbers for people */
	bool laws;	/* a row for each law that was tested, not for broken ones alone */
};

/* Room for an amount, and columns that the label before a paragraph takes. */
enum { AMOUNT_BYTES = 32, LABEL_COLUMNS = 15 };

/* "65.5 MB", or every digit of it on an exact page. */
void amount_text(const struct report_page *p, uint64_t bytes, char text[static AMOUNT_BYTES]);

/* "1.50 s", or "1.500000000 s" on an exact page. */
void elapsed_text(const struct report_page *p, double ns, char text[static AMOUNT_BYTES]);

/* Prints @text folded beside a label, which may be empty. */
void print_labelled(const struct report_page *p, const char *label, const char *text);

/* Prints @first, then @text broken at spaces; further lines are indented by @indent columns. */
void page_text(const struct report_page *p, const char *first, const char *text, int indent);

/* The same in another look, if the page has any. */
void page_tinted(const struct report_page *p, enum tint tint, const char *first, const char *text, int indent);

/* Text between the two has that colour, if the page has any. */
void tint_begin(const struct report_page *p, enum tint tint);
void tint_end(const struct report_page *p);

/* A line of heads of columns. */
void print_heads(const struct report_page *p, const char *heads);

#endif
