/* SPDX-License-Identifier: GPL-2.0 */
/* The record of a watch as JSON. */
#ifndef COPYSCOPE_WATCH_REPORT_WATCH_JSON_H
#define COPYSCOPE_WATCH_REPORT_WATCH_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "userspace/watch/options/options.h"

/* How the window ended. */
struct watch_ending {
	const char *reason;	/* "seconds", "interrupted", "subject ended"; NULL: it goes on */
	bool status_known;	/* there was a command, and it ended */
	int status;		/* its exit status, as a shell has it */
};

/* The record of a watch that @command, its command line, made. */
json_t *watch_json(const struct watch_record *r, const struct watch_options *o, char **command,
		   const struct watch_ending *end);

/* Writes it. 0 or -errno. */
int watch_json_write(const struct watch_record *r, const struct watch_options *o, char **command,
		     const struct watch_ending *end, FILE *out);

/* The same record with the sockets alone that its report names, and "sockets_left_out", the number of the others. */
json_t *watch_report_json(const struct watch_record *r, const struct watch_options *o, char **command,
			  const struct watch_ending *end);

/* Records of intervals. */
struct watch_lines {
	FILE *out;
	int told;	/* how many of the sockets that died stand in a line already */
};

/* Writes the same in one line: the last one whole, those before without the sockets that died before
 * the line before. 0 or -errno. */
int watch_json_line(struct watch_lines *l, const struct watch_record *r, const struct watch_options *o,
		    char **command, const struct watch_ending *end);

/* What lines of intervals have in common with a record: pid and comm. */
void put_listener(json_t *o, const struct watch_process_id *id);

/* What names its service: comm, uid, cgroup. */
void put_service(json_t *o, const struct watch_record *r, const struct watch_process *p);
void put_watched_name(json_t *o, const struct watch_process_id *id, const char *comm);

/* Names of laws, by a bit for each. */
json_t *watch_laws_json(uint32_t laws);

/* Its path, as reports show it, or its number. */
json_t *cgroup_json(const struct watch_record *r, uint64_t cgroup);

/* Its sites and counts. */
void put_moved(json_t *o, const struct watch_record *r, const struct watch_movements *m);

/* Why some of it was copied. */
json_t *watched_causes_json(const struct watch_movements *moved);

/* Addresses and ports of both ends of a socket. */
void put_ends(json_t *o, const struct watch_socket *s);

/* What a row of a table shows of it. */
void put_row_figures(json_t *o, const struct watch_movements *m);

/* Ways by which no call moved anything are left out; @sizes may be NULL. */
json_t *call_sizes_json(const struct call_sizes *sizes);

/* Buckets without a send are left out. */
json_t *hold_buckets_json(const unsigned long long buckets[HOLD_BUCKETS]);

#endif
