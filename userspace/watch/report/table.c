// SPDX-License-Identifier: GPL-2.0
/* Prints what a watch found as names and numbers, for a host where nothing prints its report. */
#include "userspace/watch/report/table.h"

#include <errno.h>
#include <inttypes.h>

#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/rows.h"

/* The columns of a row, in bytes. */
static const struct column {
	const char *name;
	struct figure (*of)(const struct watch_movements *m);
} columns[] = {
	{ "sent", figure_sent }, { "received", figure_received }, { "copied", figure_copied },
	{ "avoidable", figure_needless }, { "unknown", figure_unknown },
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(*columns) };

static void print_figure(struct figure figure, FILE *out)
{
	if (figure.known)
		fprintf(out, "%16" PRIu64, figure.bytes);
	else
		fprintf(out, "%16s", "-");
}

static void print_row(const struct watch_movements *moved, const char *name, FILE *out)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		print_figure(columns[i].of(moved), out);
	fprintf(out, "  %s\n", name);
}

static void print_sites(const struct site_value sites[SITE_COUNT], FILE *out)
{
	fprintf(out, "%16s  site\n", "bytes");
	for (enum site site = 0; site < SITE_COUNT; site++) {
		print_figure((struct figure){ sites[site].how != HOW_NOT_MEASURED, sites[site].tally.bytes }, out);
		fprintf(out, "  %s\n", site_name(site));
	}
}

int watch_table_print(const struct watch_record *r, const struct watch_options *o, FILE *out)
{
	struct rows rows;
	/* A service has its name from whoever prints a report. */
	int err = rows_make(r, o->rows == ROWS_SERVICES ? ROWS_PROCESSES : o->rows, o->order, false, &rows);

	if (err)
		return err;
	print_sites(r->sites, out);
	fputc('\n', out);
	for (int i = 0; i < COLUMN_COUNT; i++)
		fprintf(out, "%16s", columns[i].name);
	fprintf(out, "  %s\n", watch_rows_names[o->rows]);
	print_row(&r->total.moved, "all", out);
	for (int i = 0; i < rows.count && i < o->top; i++)
		print_row(&rows.row[i].moved, rows.row[i].name, out);
	rows_free(&rows);
	return fflush(out) ? -errno : 0;
}
