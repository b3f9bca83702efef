// SPDX-License-Identifier: GPL-2.0
/* Groups what moved by service, socket, process, control group or peer, and puts it in order. */
#include "userspace/watch/report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/watch/report/figures.h"

/* The larger one first. */
static int compare_numbers(uint64_t left, uint64_t right)
{
	return numbers_order(right, left);
}

static int compare_figures(struct figure a, struct figure b)
{
	return compare_numbers(a.known ? a.bytes : 0, b.known ? b.bytes : 0);
}

static uint64_t all_bytes(const struct row *row)
{
	return figure_moved(&row->moved);
}

static int compare_bytes(const void *a, const void *b)
{
	int order = compare_numbers(all_bytes(a), all_bytes(b));

	return order ? order : strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

/* A row as whose copies are not all known has so many at least. */
static int compare_copied(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = compare_numbers(figure_copied(&left->moved).bytes, figure_copied(&right->moved).bytes);

	return order ? order : compare_bytes(a, b);
}

static int compare_sent(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = compare_figures(figure_sent(&left->moved), figure_sent(&right->moved));

	return order ? order : compare_bytes(a, b);
}

static int compare_received(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = compare_figures(figure_received(&left->moved), figure_received(&right->moved));

	return order ? order : compare_bytes(a, b);
}

static int compare_avoidable(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = compare_figures(figure_needless(&left->moved), figure_needless(&right->moved));

	return order ? order : compare_copied(a, b);
}

static int compare_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static struct row *append(struct rows *rows)
{
	struct row *row = &rows->row[rows->count++];

	row->moved = watch_sum_of_nothing().moved;
	return row;
}

/* Adds up neighbours of one name. */
static void merge(struct rows *rows)
{
	int kept = 0;

	qsort(rows->row, rows->count, sizeof(*rows->row), compare_name);
	for (int i = 1; i < rows->count; i++) {
		struct row *into = &rows->row[kept], *from = &rows->row[i];

		if (strcmp(into->name, from->name)) {
			rows->row[++kept] = *from;
			continue;
		}
		into->sockets += from->sockets;
		into->ended &= from->ended;
		watch_movements_add(&into->moved, &from->moved);
	}
	rows->count = rows->count ? kept + 1 : 0;
}

/* Processes that have no socket say nothing. */
static void drop_idle(struct rows *rows)
{
	int kept = 0;

	for (int i = 0; i < rows->count; i++)
		if (rows->row[i].sockets || all_bytes(&rows->row[i]))
			rows->row[kept++] = rows->row[i];
	rows->count = kept;
}

static void add_socket(const struct watch_record *r, int at, bool lately, struct rows *rows)
{
	const struct watch_socket *s = &r->sockets[at];
	struct row *row;

	/* It moved nothing since the reading before. */
	if (lately && s->died_before)
		return;
	row = append(rows);
	socket_name(s, row->name);
	row->sockets = 1;
	row->at = at;
	row->ended = s->died;
	watch_movements_add(&row->moved, lately ? &s->lately : &s->moved);
}

static void add_group(const struct watch_group *g, enum watch_grouping by, bool lately, struct rows *rows)
{
	struct row *row = append(rows);

	group_name(g, by, row->name);
	row->sockets = lately ? g->sockets_lately : g->sockets;
	watch_movements_add(&row->moved, lately ? &g->lately : &g->moved);
}

static int compare_services(const void *a, const void *b)
{
	return service_compare(*(const struct watch_process *const *)a, *(const struct watch_process *const *)b);
}

static void name_process(const struct watch_record *r, const struct watch_process *p, enum watch_rows what,
			 char name[WATCH_NAME_BYTES])
{
	if (what == ROWS_SERVICES)
		service_name(p, name);
	else if (what == ROWS_CGROUPS)
		cgroup_name(r, p->cgroup, name);
	else
		process_name(&p->id, p->comm, name);
}

/* Of a service its processes make one row at once: a row has a kilobyte, and there may be 10,000 processes. */
static int add_processes(const struct watch_record *r, enum watch_rows what, bool lately, struct rows *rows)
{
	const struct watch_process **sorted = malloc((r->process_count + 1) * sizeof(*sorted));
	struct row *row = NULL;

	if (!sorted)
		return -ENOMEM;
	for (int i = 0; i < r->process_count; i++)
		sorted[i] = &r->processes[i];
	if (what == ROWS_SERVICES)
		qsort(sorted, r->process_count, sizeof(*sorted), compare_services);
	for (int i = 0; i < r->process_count; i++) {
		const struct watch_process *p = sorted[i];

		if (!row || what != ROWS_SERVICES || service_compare(sorted[i - 1], p)) {
			row = append(rows);
			row->at = p - r->processes;
			row->ended = true;
			name_process(r, p, what, row->name);
		}
		row->sockets += lately ? p->sum.sockets_lately : p->sum.sockets;
		row->ended &= p->ended;
		watch_movements_add(&row->moved, lately ? &p->sum.lately : &p->sum.moved);
	}
	free(sorted);
	return 0;
}

int rows_make(const struct watch_record *r, enum watch_rows what, enum rows_order order, bool lately,
	      struct rows *rows)
{
	static int (*const compare[])(const void *, const void *) = {
		[ROWS_BY_COPIED] = compare_copied, [ROWS_BY_SENT] = compare_sent,
		[ROWS_BY_RECEIVED] = compare_received, [ROWS_BY_AVOIDABLE] = compare_avoidable,
		[ROWS_BY_CPU] = compare_copied, [ROWS_BY_NAME] = compare_name,
	};
	enum watch_grouping by = what == ROWS_PEERS ? WATCH_BY_PEER : WATCH_BY_PORT;
	bool of_groups = what == ROWS_PEERS || what == ROWS_PORTS;
	int most = of_groups ? r->groups[by].count : what == ROWS_SOCKETS ? r->socket_count : r->process_count;

	*rows = (struct rows){ .row = calloc(most + 1, sizeof(*rows->row)) };
	if (!rows->row)
		return -ENOMEM;
	for (int i = 0; i < most && (of_groups || what == ROWS_SOCKETS); i++)
		if (of_groups)
			add_group(&r->groups[by].group[i], by, lately, rows);
		else
			add_socket(r, i, lately, rows);
	if (!of_groups && what != ROWS_SOCKETS && add_processes(r, what, lately, rows)) {
		rows_free(rows);
		return -ENOMEM;
	}
	/* Two sockets may have the same addresses, in two namespaces or one after the other. */
	if (what != ROWS_SOCKETS)
		merge(rows);
	drop_idle(rows);
	qsort(rows->row, rows->count, sizeof(*rows->row), compare[order]);
	return 0;
}

void rows_free(struct rows *rows)
{
	free(rows->row);
	*rows = (struct rows){};
}
