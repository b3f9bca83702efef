/* SPDX-License-Identifier: GPL-2.0 */
/* What records of runs and of watches have in common, as JSON (docs/record.schema.json). */
#ifndef COPYSCOPE_REPORT_PARTS_JSON_H
#define COPYSCOPE_REPORT_PARTS_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "userspace/record/measured.h"

/* What made the record: release, and git describe of the tree it was built from. */
extern const char tool_version[], tool_commit[];

json_t *machine_json(const struct machine *m);

/* @timed: the kernel counted runs and times of programs. */
json_t *backend_json(const struct measured *m, bool timed);

/* What is not the same of runs and of watches where every record begins. */
struct record_begin {
	json_t *command, *subject;	/* taken over */
	const char *ended_by;
	const char *books;
	bool details;
	bool timed;	/* as for backend_json */
};

json_t *record_begin_json(const struct measured *m, const struct record_begin *b);

/* All sites: null where one is not known. @calls: somebody counts them. */
json_t *sites_json(const struct site_value sites[SITE_COUNT], bool calls);

/* @known: a bit for each count. */
json_t *counts_json(uint64_t known, const unsigned long long count[COUNT_COUNT]);

/* What moved, of a socket or of a sum that says nothing of why: its sites and counts. @calls: of its sites, too. */
void put_books(json_t *o, const struct books *b, const enum how how[SITE_COUNT], uint64_t counts_known, bool calls);

/* What a cause copied, without words on it. */
json_t *cause_json(const struct cause *c);
json_t *causes_json(const struct cause *causes, int count);
/* Both sides of a law, what is between them, and why it broke or is not testable. */
void put_sides(json_t *law, bool known, int64_t left, int64_t right, int64_t residual, const char *why);
json_t *laws_json(const struct measured *m);

/* Writes a whole document, which it takes over. 0 or -errno. */
int json_write(json_t *o, FILE *out);
/* The same in one line, which reaches @out at once. */
int json_write_line(json_t *o, FILE *out);

#endif
