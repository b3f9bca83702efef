// SPDX-License-Identifier: GPL-2.0
/* Lays out text and tables of a watch within the columns of a page. */
#include "userspace/watch/report/page.h"

#include <inttypes.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/report/figures.h"

struct page page_of(FILE *out, const struct watch_options *o)
{
	return (struct page){ out, terminal_columns(fileno(out)), o->rows, ROWS_BY_NEEDLESS, o->top,
			      terminal_colours(fileno(out), COLOUR_AUTO) };
}

void page_text(const struct page *p, const char *first, const char *text, int indent)
{
	print_folded(p->out, p->columns, first, text, indent);
}

void page_tinted(const struct page *p, enum tint tint, const char *first, const char *text, int indent)
{
	if (p->colours)
		fputs(terminal_tint(tint), p->out);
	page_text(p, first, text, indent);
	if (p->colours)
		fputs(terminal_tint(TINT_END), p->out);
}

void page_heads(const struct page *p, const char *heads)
{
	fprintf(p->out, "%s%s%s\n", p->colours ? terminal_tint(TINT_BOLD) : "", heads,
		p->colours ? terminal_tint(TINT_END) : "");
}

static struct figure a_second(struct figure f, uint64_t over_ns)
{
	if (over_ns)
		f.bytes = (double)f.bytes * 1e9 / over_ns;
	return f;
}

static int width(const char *name)
{
	int columns = 0;

	for (; *name; name++)
		columns += ((unsigned char)*name & 0xc0) != 0x80;
	return columns;
}

/* What stands left of a name: four numbers of bytes, and sockets unless each row is one. */
static int columns_of_numbers(const struct page *p, bool rates)
{
	return (p->rows == ROWS_SOCKETS ? 39 : 48) + rates + 2;
}

/* A name that identifies a row is never cut: where one does not fit beside its numbers, all stand above theirs. */
static bool names_are_above(const struct page *p, const struct rows *rows, bool rates)
{
	for (int i = 0; i < rows->count && i < p->top; i++)
		if (width(rows->row[i].name) > p->columns - columns_of_numbers(p, rates))
			return true;
	return false;
}

int page_row_lines(const struct page *p, const struct rows *rows, bool rates)
{
	int most = 0;

	if (!names_are_above(p, rows, rates))
		return 1;
	for (int i = 0; i < rows->count && i < p->top; i++)
		most = width(rows->row[i].name) > most ? width(rows->row[i].name) : most;
	return 2 + most / p->columns;
}

static void print_numbers(const struct page *p, const struct row *row, uint64_t over_ns)
{
	const struct watch_movements *m = &row->moved;
	const struct figure figures[] = { figure_sent(m), figure_received(m), figure_uncopied(m),
					  figure_needless(m) };
	char sockets[32];

	for (size_t f = 0; f < sizeof(figures) / sizeof(*figures); f++) {
		char text[16];

		figure_text(a_second(figures[f], over_ns), text);
		fprintf(p->out, "%s%*s", f ? " " : "", f == 3 && over_ns ? 10 : 9, text);
	}
	number_text(row->sockets, sockets);
	if (p->rows != ROWS_SOCKETS)
		fprintf(p->out, " %8s", sockets);
}

static void print_heads(const struct page *p, uint64_t over_ns, bool above)
{
	const char *of_bytes = over_ns ? "   sent/s    recv/s no copy/s needless/s" :
					 "     sent  received   no copy  needless";
	char heads[128];

	snprintf(heads, sizeof(heads), "%s%s%s%s", of_bytes, p->rows == ROWS_SOCKETS ? "" : "  sockets",
		 above ? "" : "  ", above ? "" : rows_title(p->rows));
	page_heads(p, heads);
}

/*
 *     sent  received   no copy  needless  sockets  processes
 *  12.3 GB   3.10 MB   12.1 GB       0 B       12  nginx, pid 812
 */
void page_rows(const struct page *p, const struct rows *rows, uint64_t over_ns)
{
	bool above = names_are_above(p, rows, over_ns);

	if (above)
		page_text(p, "", rows_title(p->rows), 0);
	print_heads(p, over_ns, above);
	for (int i = 0; i < rows->count && i < p->top; i++) {
		if (above)
			page_text(p, "", rows->row[i].name, 2);
		print_numbers(p, &rows->row[i], over_ns);
		fprintf(p->out, above ? "\n" : "  %s\n", rows->row[i].name);
	}
}
