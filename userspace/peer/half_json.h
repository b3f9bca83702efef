/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One host's half of the books, on its way to the other: its run record as it stands, with what a
 * record leaves out: the workload's own totals, stacks of late copies, lost updates.
 *
 * Both hosts are the same build, so one reads what the other wrote; all the same each key is checked
 * for its type and range.
 */
#ifndef COPYSCOPE_HALF_JSON_H
#define COPYSCOPE_HALF_JSON_H

#include <jansson.h>

#include "userspace/trace/launch.h"
#include "userspace/trace/record.h"

/* @child is the one end that ran here, with what it printed. */
json_t *half_json(const struct record *r, enum end end, const struct child *child);

/*
 * Fills in a zeroed record with what the host of @end counted. 0 or -EBADMSG; what is owned by @r is
 * the caller's to free either way.
 */
int half_read(json_t *o, enum end end, struct record *r);

#endif
