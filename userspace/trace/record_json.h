/* SPDX-License-Identifier: GPL-2.0 */
/* The run record as JSON (docs/run.schema.json), and the place it is kept. */
#ifndef COPYSCOPE_RECORD_JSON_H
#define COPYSCOPE_RECORD_JSON_H

#include <stdio.h>

#include "userspace/trace/record.h"

/* What made the record: release, and git describe of the tree it was built from. */
extern const char tool_version[], tool_commit[];

struct json_t;

/* The record as a JSON document; the caller's to free. */
struct json_t *record_json(const struct record *r);

/* Writes the record as one JSON document. 0 or -errno. */
int record_write(const struct record *r, FILE *out);

/*
 * A file that appears under its name only when it is whole. keep_open reserves room before the
 * run, so that a full disk is told before anything is touched; a run that is killed leaves
 * nothing.
 */
struct keep {
	int fd;
	char path[4096];
};

/*
 * Reserves the file that the user asked for; by default ID.json in COPYSCOPE_RUNS or in the
 * tree's results/runs. "-" reserves nothing. 0, or -errno with one line printed.
 */
int keep_reserve(struct keep *k, const char *asked, const char *id);
int keep_open(struct keep *k, const char *path);
int keep_commit(struct keep *k, const struct record *r);
void keep_abandon(struct keep *k);

#endif
