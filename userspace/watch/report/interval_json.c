// SPDX-License-Identifier: GPL-2.0
/* Writes the first rows of an interval as JSON: of 10,000 sockets the reader gets as many as it prints. */
#include "userspace/watch/report/interval_json.h"

#include "userspace/common/json.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/rows.h"
#include "userspace/watch/report/watch_json.h"

static const char *const order_names[] = {
	[ROWS_BY_NEEDLESS] = "needless", [ROWS_BY_BYTES] = "bytes", [ROWS_BY_NAME] = "name",
};

static json_t *row_json(const struct row *row)
{
	json_t *o = json_object();

	put(o, "name", text_or_null(row->name));
	put(o, "sockets", json_integer(row->sockets));
	put_row_figures(o, &row->moved);
	return o;
}

/* All that moved; sockets are those that are open. */
static json_t *lately_json(const struct watch_sum *total)
{
	json_t *o = json_object();

	put(o, "sockets", json_integer(total->sockets - total->died));
	put_row_figures(o, &total->lately);
	return o;
}

json_t *interval_json(const struct watch_record *r, enum watch_rows what, enum rows_order order, int top)
{
	json_t *interval = json_object(), *array = json_array();
	char why[WHY_BYTES];
	struct rows rows;

	if (rows_make(r, what, order, true, &rows)) {
		json_decref(interval);
		json_decref(array);
		return NULL;
	}
	for (int i = 0; i < rows.count && i < top; i++)
		json_array_append_new(array, row_json(&rows.row[i]));
	put(interval, "seconds", json_real(r->window_ns / 1e9));
	put(interval, "over_ns", json_integer(r->lately_ns));
	put(interval, "sums_short", text_or_null(watch_sums_short(r, why) ? why : NULL));
	put(interval, "by", text(watch_rows_names[what]));
	put(interval, "order", text(order_names[order]));
	put(interval, "total", lately_json(&r->total));
	put(interval, "rows", array);
	put(interval, "further", json_integer(rows.count - json_array_size(array)));
	rows_free(&rows);
	return interval;
}
