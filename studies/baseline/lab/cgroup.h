/* SPDX-License-Identifier: GPL-2.0 */
/* A memory control group for one pass, removed however the pass ends. */
#ifndef COPYSCOPE_BASELINE_CGROUP_H
#define COPYSCOPE_BASELINE_CGROUP_H

#include "studies/baseline/bench/work.h"

struct cgroup {
	char path[192];		/* "" if there is none */
	char home[64];		/* of the group's tasks once they leave */
	int alive;		/* the janitor waits for its end; -1: none */
};

/* Moves this process, and children made later, into a group of at most @bytes. */
int cgroup_enter(struct work *w, struct cgroup *g, uint64_t bytes);
void cgroup_leave(struct cgroup *g);

#endif
