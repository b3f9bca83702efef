/* SPDX-License-Identifier: GPL-2.0 */
/* What calls cost, as JSON. */
#ifndef COPYSCOPE_COST_JSON_H
#define COPYSCOPE_COST_JSON_H

#include <jansson.h>

#include "userspace/record/record.h"

/* One measured function; NULL without --cost, or if @name is no measured call. */
json_t *cost_json(const struct record *r, const char *name);

/* The calls that are no site, and the cost of measuring; NULL without --cost. */
json_t *costs_json(const struct record *r);

#endif
