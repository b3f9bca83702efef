/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Starts the two ends of the workload as unprivileged processes that wait to be released.
 *
 * The kernel kills a child when the tool dies, however it dies. The order is launch, wait for
 * ready, attach probes and counters to the pid, release, collect.
 */
#ifndef COPYSCOPE_LAUNCH_H
#define COPYSCOPE_LAUNCH_H

#include <stdint.h>

#include "userspace/path/path.h"
#include "userspace/record/plan.h"
#include "userspace/run/ends/ending.h"

/* Waits until the child reports that it is ready; -EPIPE if it ended instead, or the run was
 * interrupted. */
int child_wait_ready(struct child *c);

int child_release(struct child *c);

/*
 * Collects both children's output until both have ended; ending.h lists what ends them if they do
 * not end by themselves. Calls @tick ten times a second or more.
 */
void children_collect(struct child *children, int count, void (*tick)(void *), void *arg);

/* The signal that ended the run before its time; 0: none did. */
int children_interrupted(void);

/* Kills what still runs and frees; accepts a zeroed child. */
void child_end(struct child *c);

/*
 * Launches the server in the sender's namespace and the client in the receiver's, both waiting to
 * be released. 0, or -errno with one line printed; children that were started are in @children
 * either way.
 */
int ends_launch(struct child children[END_COUNT], const char *workload,
		const struct workload_plan *plan, const struct path *path);

#endif
