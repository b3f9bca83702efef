/* SPDX-License-Identifier: GPL-2.0 */
/* What a partner may request by leave of the listening host's user. Pure but for limits_memory. */
#ifndef COPYSCOPE_LIMITS_H
#define COPYSCOPE_LIMITS_H

#include "userspace/path/path.h"
#include "userspace/peer/channel/run_request.h"

/* Notes how much memory a run may use here: half of what is free. */
void limits_memory(struct path_limits *limits);

/* The most memory that the workload's end of this plan needs here, sockets included. */
uint64_t limits_bytes_needed(const struct workload_plan *plan);

/* NULL, or one line that names what a plan requests beyond the limits. */
const char *limits_fault(const struct path_limits *limits, const struct workload_plan *plan,
			 char *line, size_t size);

#endif
