/* SPDX-License-Identifier: GPL-2.0 */
/* What records of runs and of watches have in common, as JSON (docs/record.schema.json). */
#ifndef COPYSCOPE_REPORT_PARTS_JSON_H
#define COPYSCOPE_REPORT_PARTS_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "userspace/record/record.h"

/* What made the record: release, and git describe of the tree it was built from. */
extern const char tool_version[], tool_commit[];

json_t *machine_json(const struct machine *m);
/* The first keys of every record, and the command line that made it. */
json_t *record_begin_json(const char *id, const char *started, json_t *command, const struct machine *machine);

/* @timed: the kernel counted runs and times of programs. */
json_t *backend_json(enum backend backend, const char *why, const struct probe *probes, int count, bool timed);

/* One site: null where it is not known. @calls: NULL where nobody counts them. */
json_t *site_json(enum how how, uint64_t bytes, const uint64_t *calls, const char *why);

json_t *causes_json(const struct cause *causes, int count);
json_t *laws_json(const struct law *laws, int count);

/* Writes a whole document, which it takes over. 0 or -errno. */
int json_write(json_t *o, FILE *out);
/* The same in one line, which reaches @out at once. */
int json_write_line(json_t *o, FILE *out);

#endif
