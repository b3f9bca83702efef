/* SPDX-License-Identifier: GPL-2.0 */
/* The record of a watch as JSON, and what moved in each interval, a line each. */
#ifndef COPYSCOPE_WATCH_REPORT_WATCH_JSON_H
#define COPYSCOPE_WATCH_REPORT_WATCH_JSON_H

#include <stdio.h>

#include "userspace/watch/options/options.h"

/* How the window ended. */
struct watch_ending {
	const char *reason;	/* "seconds", "interrupted", "subject ended"; NULL: it goes on */
	bool status_known;	/* there was a command, and it ended */
	int status;		/* its exit status, as a shell has it */
};

/* Writes the record of a watch that @command, its command line, made. 0 or -errno. */
int watch_json_write(const struct watch_record *r, const struct watch_options *o, char **command,
		     const struct watch_ending *end, FILE *out);

/* Records of intervals. */
struct watch_lines {
	FILE *out;
	int told;	/* how many of the sockets that died stand in a line already */
};

/* Writes the same in one line: the last one whole, those before without the sockets that died before
 * the line before. 0 or -errno. */
int watch_json_line(struct watch_lines *l, const struct watch_record *r, const struct watch_options *o,
		    char **command, const struct watch_ending *end);

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
