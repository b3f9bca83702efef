// SPDX-License-Identifier: GPL-2.0
/* Draws the live view of a watch and obeys its keys. */
#include "userspace/watch/view.h"

#include <errno.h>
#include <stdlib.h>

#include "userspace/common/text.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"

enum { CTRL_C = 3, CTRL_Z = 26, LINES_AROUND = 6 };

enum view_command view_key(struct view *v, int key)
{
	static const struct {
		int key;
		enum rows_order order;
	} orders[] = { { 'b', ROWS_BY_NEEDLESS }, { 't', ROWS_BY_BYTES }, { 'n', ROWS_BY_NAME } };
	static const struct {
		int key;
		enum watch_rows rows;
	} kinds[] = { { 's', ROWS_SOCKETS }, { 'p', ROWS_PROCESSES }, { 'g', ROWS_CGROUPS },
		      { 'r', ROWS_PEERS }, { 'l', ROWS_PORTS } };

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (orders[i].key == key) {
			v->page.order = orders[i].order;
			return VIEW_DRAW;
		}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].key == key) {
			v->page.rows = kinds[i].rows;
			return VIEW_DRAW;
		}
	if (key == ' ')
		v->paused = !v->paused;
	return key == ' ' ? VIEW_DRAW : key == CTRL_Z ? VIEW_STOP :
	       key == 'q' || key == CTRL_C || key < 0 ? VIEW_QUIT : VIEW_NOTHING;
}

/*
 * copyscope watch --comm nginx  00:00:12  by bytes copied needlessly
 * sent 1.23 GB/s, received 3.10 MB/s, copied needlessly 0 B/s; 12 sockets open
 */
static void print_head(const struct view *v, const struct watch_record *r, const char *short_why, FILE *out)
{
	static const char *const orders[] = {
		[ROWS_BY_NEEDLESS] = "bytes copied needlessly", [ROWS_BY_BYTES] = "throughput",
		[ROWS_BY_NAME] = "name",
	};
	const struct watch_movements *m = &r->total.lately;
	unsigned int seconds = r->window_ns / 1000000000;
	char sent[16], received[16], needless[16], sockets[32];

	figure_text(figure_a_second(figure_sent(m), r->lately_ns), sent);
	figure_text(figure_a_second(figure_received(m), r->lately_ns), received);
	figure_text(figure_a_second(figure_needless(m), r->lately_ns), needless);
	number_text(r->total.sockets - r->total.died, sockets);
	fprintf(out, "copyscope watch %s  %02u:%02u:%02u  by %s%s\n", v->title, seconds / 3600,
		seconds / 60 % 60, seconds % 60, orders[v->page.order], v->paused ? "  paused" : "");
	fprintf(out, "sent %s/s, received %s/s, copied needlessly %s/s; %s sockets open\n", sent,
		received, needless, sockets);
	if (*short_why)
		fprintf(out, "Sums may be short: %s\n", short_why);
	fputc('\n', out);
}

int view_draw(struct view *v, const struct watch_record *r)
{
	int room = v->screen.rows > LINES_AROUND ? v->screen.rows - LINES_AROUND : 1, err = -ENOMEM;
	struct watch_page page = v->page;
	char why[WHY_BYTES], *text;
	struct rows rows;
	size_t bytes;

	page.on.out = open_memstream(&text, &bytes);
	if (!page.on.out)
		return err;
	page.on.columns = v->screen.columns;
	page.on.colours = false;
	room -= watch_sums_short(r, why);
	print_head(v, r, why, page.on.out);
	if (!rows_make(r, page.rows, page.order, true, &rows)) {
		room /= page_row_lines(&page, &rows, true);
		page.top = room < 1 ? 1 : room < page.top ? room : page.top;
		page_rows(&page, &rows, r->lately_ns);
		if (rows.count > page.top)
			fprintf(page.on.out, "%48s  %d more\n", "", rows.count - page.top);
		else if (!rows.count)
			fprintf(page.on.out, "%48s  no TCP or UDP socket yet\n", "");
		rows_free(&rows);
	}
	fprintf(page.on.out, "\nsort b needless t bytes n name | rows s p g r l | space pause | q quit");
	err = fclose(page.on.out) ? -errno : screen_draw(&v->screen, text, bytes);
	free(text);
	return err;
}
