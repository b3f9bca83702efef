/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of one end as JSON: "counters" of the record. */
#ifndef COPYSCOPE_COUNTERS_JSON_H
#define COPYSCOPE_COUNTERS_JSON_H

#include <jansson.h>

#include "userspace/record/record.h"

json_t *counters_json(const struct counter_value values[COUNTER_COUNT]);

#endif
