/* SPDX-License-Identifier: GPL-2.0 */
/* What records of all kinds have in common, as JSON. */
#ifndef COPYSCOPE_PARTS_JSON_H
#define COPYSCOPE_PARTS_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "userspace/record/record.h"

/* What made the record: release, and git describe of the tree it was built from. */
extern const char tool_version[], tool_commit[];

json_t *tool_json(void);
json_t *machine_json(const struct machine *m);
/* @timed: the kernel counted runs and times of programs. */
json_t *probes_json(const struct probe *probes, int count, bool timed);
json_t *causes_json(const struct cause *causes, int count);
json_t *laws_json(const struct law *laws, int count);

/* Writes a whole document, which it takes over. 0 or -errno. */
int json_write(json_t *o, FILE *out);
/* The same in one line, which reaches @out at once. */
int json_write_line(json_t *o, FILE *out);

#endif
