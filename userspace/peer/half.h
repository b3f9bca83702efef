/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One host's half of a record, on its way to the other: its run record as it is, and what a record
 * leaves out: the workload's own totals, stacks of late copies, lost updates. Who reads it judges anew how its
 * numbers are known.
 *
 * Both hosts are the same build, so one can read what the other wrote. The reader checks the type
 * of each key and the range of each number all the same: what is not what it should be must not
 * become a sum.
 */
#ifndef COPYSCOPE_PEER_HALF_JSON_H
#define COPYSCOPE_PEER_HALF_JSON_H

#include <jansson.h>

#include "userspace/record/experiment.h"
#include "userspace/run/ends/launch.h"

/* Far above what 1,024 connections need. */
enum { HALF_SOCKETS_MAX = 4096, HALF_BYTES_MAX = 16 << 20 };

/* @totals: what the end here printed of itself; NULL: nothing. Taken over. */
json_t *peer_half_json(const struct record *r, enum end end, json_t *totals);

/*
 * Fills in a zeroed record with what the host of @end counted by that plan. 0 or -EBADMSG; what is owned by @r
 * is the caller's to free either way.
 */
int half_read(const json_t *o, enum end end, const struct workload_plan *plan, struct record *r);

#endif
