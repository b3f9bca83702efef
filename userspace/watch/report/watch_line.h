/* SPDX-License-Identifier: GPL-2.0 */
/* What moved in each interval of a watch, a line of JSON each (docs/watch-line.schema.json). */
#ifndef COPYSCOPE_WATCH_REPORT_WATCH_LINE_H
#define COPYSCOPE_WATCH_REPORT_WATCH_LINE_H

#include <stdio.h>

#include "userspace/watch/report/line_rows.h"
#include "userspace/watch/report/watch_json.h"

enum { WATCH_TIME_BYTES = 32 };

/* Where lines go, and what those before it said. */
struct watch_deltas {
	FILE *out;
	uint64_t number, born, died, lost_events, unseen_events, unbooked_sockets, own_cpu_ns, lost_samples;
	double programs_ns;
	char end[WATCH_TIME_BYTES];	/* of the line before */
	bool fold;			/* a row is a service, as an exporter needs it: see line_rows() */
	struct line_notes notes;	/* owned: what the line before said of processes */
	struct call_sizes sized;	/* the sum of all */
};

/* Writes the interval that ends with this reading, which was made just now. 0 or -errno. */
int watch_delta_write(struct watch_deltas *d, const struct watch_record *r,
		      const struct watch_ending *end);

#endif
