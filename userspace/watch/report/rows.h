/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a table of a watch: a service, a socket, a process, a control group, a remote peer or a port each. */
#ifndef COPYSCOPE_WATCH_REPORT_ROWS_H
#define COPYSCOPE_WATCH_REPORT_ROWS_H

#include "userspace/watch/options/options.h"
#include "userspace/watch/report/names.h"

struct row {
	char name[WATCH_NAME_BYTES];
	uint64_t sockets;
	bool ended;
	int at;	/* of sockets and services: which one, or a process of it */
	struct watch_movements moved;
};

struct rows {
	struct row *row;	/* owned */
	int count;
};

/* Makes them of what moved, in the whole window or since the reading before. 0 or -ENOMEM. */
int rows_make(const struct watch_record *r, enum watch_rows what, enum rows_order order, bool lately,
	      struct rows *rows);
void rows_free(struct rows *rows);

#endif
