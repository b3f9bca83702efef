/* SPDX-License-Identifier: GPL-2.0 */
/* Checks whether the system allows what a run needs, and names what it refuses. */
#ifndef COPYSCOPE_PERMITS_H
#define COPYSCOPE_PERMITS_H

#include <stdbool.h>

#include "userspace/record/plan.h"

/*
 * Both return 0, or -errno after one line that names what is missing and what to do.
 *
 * The first checks what is there: root, /proc, BTF. Call it before any file is opened.
 */
int permits_look(void);

/* The second checks all that a run will need, with probes and captures or without, and changes
 * nothing. */
int permits_check(bool probes, bool captures);

/*
 * Raises the soft limit of descriptors to the hard one. 0, or -1 after one line that names the
 * limit that is too low for the plan, or the kernel's lack of what it needs, and what to do. Without connections (the near half
 * will name them) checks only what the tool itself needs.
 */
int room_check(const struct workload_plan *plan);

#endif
