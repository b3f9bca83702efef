/* SPDX-License-Identifier: GPL-2.0 */
/* Starts the workload's server and client, each in its end of the path. */
#ifndef COPYSCOPE_WORKLOAD_ARGV_H
#define COPYSCOPE_WORKLOAD_ARGV_H

#include "userspace/path/path.h"
#include "userspace/record/plan.h"
#include "userspace/run/ends/launch.h"

/*
 * Launches the server in the sender's namespace and the client in the receiver's, both waiting to
 * be released. 0, or -errno with one line printed; children that were started are in @children
 * either way.
 */
int ends_launch(struct child children[END_COUNT], const char *workload,
		const struct workload_plan *plan, const struct path *path);

#endif
