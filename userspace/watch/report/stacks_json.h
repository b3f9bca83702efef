/* SPDX-License-Identifier: GPL-2.0 */
/* Which calls of the programs moved bytes, as JSON. */
#ifndef COPYSCOPE_WATCH_REPORT_STACKS_JSON_H
#define COPYSCOPE_WATCH_REPORT_STACKS_JSON_H

#include <jansson.h>

#include "userspace/record/watch_record.h"

json_t *stacks_json(const struct watch_record *r);

#endif
