/* SPDX-License-Identifier: GPL-2.0 */
/* Asks before a run whether this system gives it as many descriptors and threads as it will need. */
#ifndef COPYSCOPE_ROOM_H
#define COPYSCOPE_ROOM_H

#include "userspace/record/plan.h"

/*
 * Raises the soft limit of descriptors to the hard one. 0, or -1 after one line that says which limit
 * is too low for the plan and what to do; without connections (a partner will say how many) only what
 * the tool itself needs is asked for.
 */
int room_check(const struct workload_plan *plan);

#endif
