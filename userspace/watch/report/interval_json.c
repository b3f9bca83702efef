// SPDX-License-Identifier: GPL-2.0
/* Writes the first rows of an interval as JSON: of 10,000 sockets the reader gets as many as it prints. */
#include "userspace/watch/report/interval_json.h"

#include <string.h>

#include "userspace/common/json.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/rows.h"
#include "userspace/watch/report/watch_json.h"

static json_t *row_json(const struct watch_record *r, const struct row *row, enum watch_rows what, bool detail)
{
	json_t *o = json_object();

	if (what == ROWS_SERVICES)
		put_service(o, r, &r->processes[row->at]);
	else
		put(o, "name", text_or_null(row->name));
	put(o, "sockets", json_integer(row->sockets));
	put_row_figures(o, &row->moved);
	if (detail) {
		put_moved(o, r, &row->moved);
		put(o, "causes", watched_causes_json(&row->moved));
	}
	return o;
}

/* Whose each is, and at both ends: the reader finds those of a row. */
static json_t *socket_json(const struct watch_record *r, const struct row *row)
{
	const struct watch_socket *s = &r->sockets[row->at];
	struct watch_process owner = { .id = s->owner, .cgroup = s->cgroup, .uid = s->uid };
	json_t *o = json_object();

	memcpy(owner.comm, s->comm, sizeof(owner.comm));
	put_service(o, r, &owner);
	put_ends(o, s);
	put_row_figures(o, &row->moved);
	return o;
}

static int put_sockets(json_t *interval, const struct watch_record *r, enum rows_order order)
{
	json_t *array = json_array();
	struct rows rows;
	int err = rows_make(r, ROWS_SOCKETS, order, true, &rows);

	for (int i = 0; i < rows.count && i < WATCH_ROWS_MAX; i++)
		json_array_append_new(array, socket_json(r, &rows.row[i]));
	put(interval, "sockets_further", json_integer(rows.count - json_array_size(array)));
	put(interval, "sockets", array);
	rows_free(&rows);
	return err;
}

/* Of the whole window: whose they are as well. */
static json_t *sizes_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->process_count && json_array_size(array) < WATCH_ROWS_MAX; i++) {
		const struct watch_process *p = &r->processes[i];
		json_t *o;

		if (!p->sizes)
			continue;
		o = json_object();
		put_service(o, r, p);
		put(o, "sizes", call_sizes_json(p->sizes));
		json_array_append_new(array, o);
	}
	return array;
}

/* All that moved; sockets are those that are open. */
static json_t *lately_json(const struct watch_sum *total)
{
	json_t *o = json_object();

	put(o, "sockets", json_integer(total->sockets - total->died));
	put_row_figures(o, &total->lately);
	return o;
}

json_t *interval_json(const struct watch_record *r, enum watch_rows what, enum rows_order order, int asked,
		      bool detail)
{
	json_t *interval = json_object(), *array = json_array();
	int top = asked;
	char why[WHY_BYTES];
	struct rows rows;

	if (rows_make(r, what, order, true, &rows)) {
		json_decref(interval);
		json_decref(array);
		return NULL;
	}
	/* Several may have one name: who prints adds them up. */
	if (what == ROWS_SERVICES)
		top = WATCH_ROWS_MAX;
	for (int i = 0; i < rows.count && i < top; i++)
		json_array_append_new(array, row_json(r, &rows.row[i], what, detail));
	put(interval, "seconds", json_real(r->window_ns / 1e9));
	put(interval, "over_ns", json_integer(r->lately_ns));
	put(interval, "sums_short", text_or_null(watch_sums_short(r, why) ? why : NULL));
	put(interval, "by", text(watch_rows_names[what]));
	put(interval, "order", text(watch_order_names[order]));
	put(interval, "total", lately_json(&r->total));
	put(interval, "rows", array);
	put(interval, "top", json_integer(asked));
	put(interval, "further", json_integer(rows.count - json_array_size(array)));
	rows_free(&rows);
	if (detail && r->sizes.asked)
		put(interval, "sizes", sizes_json(r));
	if (detail && put_sockets(interval, r, order)) {
		json_decref(interval);
		return NULL;
	}
	return interval;
}
