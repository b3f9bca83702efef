/* SPDX-License-Identifier: GPL-2.0 */
/* Checks before a run whether this system allows as many descriptors and threads as it needs. */
#ifndef COPYSCOPE_ROOM_H
#define COPYSCOPE_ROOM_H

#include "userspace/record/plan.h"

/*
 * Raises the soft limit of descriptors to the hard one. 0, or -1 after one line that names the
 * limit that is too low for the plan and what to do. Without connections (the near half
 * will name them) checks only what the tool itself needs.
 */
int room_check(const struct workload_plan *plan);

#endif
