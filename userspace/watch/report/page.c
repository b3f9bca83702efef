// SPDX-License-Identifier: GPL-2.0
/* Lays out text and tables of a watch within the columns of a page. */
#include "userspace/watch/report/page.h"

#include <inttypes.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/watch/summary/figures.h"

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

/* A name cut to what is left of the line, so that a row is a line. */
static void print_name(const struct page *p, const char *name, int used)
{
	int left = p->columns - used, columns = 0;

	for (; *name; name++) {
		columns += ((unsigned char)*name & 0xc0) != 0x80;
		if (columns > left)
			break;
		fputc(*name, p->out);
	}
	fputc('\n', p->out);
}

/*
 *     sent  received   no copy  needless  sockets  processes
 *  12.3 GB   3.10 MB   12.1 GB       0 B       12  nginx, pid 812
 */
void page_rows(const struct page *p, const struct rows *rows, uint64_t over_ns)
{
	char heads[96];

	snprintf(heads, sizeof(heads), "%9s %9s %9s %9s %8s  %s", over_ns ? "sent/s" : "sent",
		 over_ns ? "recv/s" : "received", "no copy", "needless", "sockets", rows_title(p->rows));
	page_heads(p, heads);
	for (int i = 0; i < rows->count && i < p->top; i++) {
		const struct watch_movements *m = &rows->row[i].moved;
		const struct figure figures[] = { figure_sent(m), figure_received(m),
						  figure_uncopied(m), figure_needless(m) };
		int used = 0;

		for (size_t f = 0; f < sizeof(figures) / sizeof(*figures); f++) {
			char text[16];

			figure_text(a_second(figures[f], over_ns), text);
			used += fprintf(p->out, "%9s ", text);
		}
		used += fprintf(p->out, "%8" PRIu64 "  ", rows->row[i].sockets);
		print_name(p, rows->row[i].name, used);
	}
}
