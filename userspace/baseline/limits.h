/* SPDX-License-Identifier: GPL-2.0 */
/* How much of this machine the control groups of this process let it use, by cgroup v1 or v2. */
#ifndef COPYSCOPE_BASELINE_LIMITS_H
#define COPYSCOPE_BASELINE_LIMITS_H

#include <stdint.h>

/* CPUs at once; INFINITY: no limit. */
double limit_cpus(void);

/* Bytes of memory; UINT64_MAX: no limit. */
uint64_t limit_memory_bytes(void);

#endif
