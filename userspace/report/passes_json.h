/* SPDX-License-Identifier: GPL-2.0 */
/* The passes of a run as JSON, and the times that are from one of them. */
#ifndef COPYSCOPE_REPORT_PASSES_JSON_H
#define COPYSCOPE_REPORT_PASSES_JSON_H

#include <jansson.h>

#include "userspace/record/experiment.h"
#include "userspace/record/record.h"

json_t *passes_json(const struct record *r);
json_t *shown_counters_json(const struct record *r);
json_t *timing_json(const struct record *r);
json_t *overhead_json(const struct record *r);

#endif
