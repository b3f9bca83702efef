/* SPDX-License-Identifier: GPL-2.0 */
/* How a report of a watch is laid out: where it goes, how wide, which rows. */
#ifndef COPYSCOPE_WATCH_PAGE_H
#define COPYSCOPE_WATCH_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "userspace/common/terminal/terminal.h"
#include "userspace/watch/report/rows.h"

struct page {
	FILE *out;
	int columns;
	enum watch_rows rows;
	enum rows_order order;
	int top;
	bool colours;
};

/* A page as wide as the terminal that @out is, or of 80 columns. */
struct page page_of(FILE *out, const struct watch_options *o);

/* Prints text broken at spaces; further lines are indented. */
void page_text(const struct page *p, const char *first, const char *text, int indent);

/* Prints text of another look, if the page has any, and further lines indented. */
void page_tinted(const struct page *p, enum tint tint, const char *first, const char *text, int indent);

/* Prints a line of heads of columns. */
void page_heads(const struct page *p, const char *heads);

/* Prints the heads of columns and the first rows, each with its whole name. With @over_ns numbers are a
 * second's, and sockets those that were open in that time. */
void page_rows(const struct page *p, const struct rows *rows, uint64_t over_ns);

/* How many lines each of them takes, at most. */
int page_row_lines(const struct page *p, const struct rows *rows, bool rates);

#endif
