/* SPDX-License-Identifier: GPL-2.0 */
/* The verdict on a run and its outcome as JSON, whole or one end of it. */
#ifndef COPYSCOPE_OUTCOME_JSON_H
#define COPYSCOPE_OUTCOME_JSON_H

#include <jansson.h>

#include "userspace/record/experiment.h"

json_t *verdict_json(const struct record *r);
json_t *outcome_json(const struct record *r);
json_t *end_outcome_json(const struct end_outcome *end);

#endif
