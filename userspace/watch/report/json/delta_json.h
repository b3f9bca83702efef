/* SPDX-License-Identifier: GPL-2.0 */
/* What moved in one interval of a watch, a line each: docs/watch-line.schema.json states what it holds. */
#ifndef COPYSCOPE_WATCH_DELTA_JSON_H
#define COPYSCOPE_WATCH_DELTA_JSON_H

#include <stdio.h>

#include "userspace/watch/report/json/watch_json.h"

enum { WATCH_TIME_BYTES = 32 };

/* Where lines go, and what those before it said. */
struct watch_deltas {
	FILE *out;
	uint64_t number, born, died, lost_events, unseen_events, unbooked_sockets;
	char end[WATCH_TIME_BYTES];	/* of the line before */
};

/* Writes the interval that ends with this reading, which was made just now. 0 or -errno. */
int watch_delta_write(struct watch_deltas *d, const struct watch_record *r,
		      const struct watch_ending *end);

#endif
