/* SPDX-License-Identifier: GPL-2.0 */
/* What the user of a listening host lets a partner ask for. Pure but for limits_memory. */
#ifndef COPYSCOPE_LIMITS_H
#define COPYSCOPE_LIMITS_H

#include "userspace/path/path.h"
#include "userspace/peer/channel/run_request.h"

/* Notes how much memory a run may take here: half of what is free. */
void limits_memory(struct path_limits *limits);

/* The most that the workload's end of this plan takes here, sockets included. */
uint64_t limits_bytes_needed(const struct workload_plan *plan);

/* NULL, or in one line what a plan asks beyond the limits. */
const char *limits_fault(const struct path_limits *limits, const struct workload_plan *plan,
			 char *line, size_t size);

#endif
