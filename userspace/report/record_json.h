/* SPDX-License-Identifier: GPL-2.0 */
/* The record of a run as JSON (docs/record.schema.json). */
#ifndef COPYSCOPE_REPORT_RECORD_JSON_H
#define COPYSCOPE_REPORT_RECORD_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "userspace/record/experiment.h"
#include "userspace/record/record.h"

/* The record as a JSON document; the caller's to free. */
json_t *record_json(const struct record *r);

/* Writes the record as one JSON document. 0 or -errno. */
int record_write(const struct record *r, FILE *out);

#endif
