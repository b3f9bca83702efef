/* SPDX-License-Identifier: GPL-2.0 */
/* How much of this machine the control groups of this process let it use, by cgroup v1 or v2. */
#ifndef COPYSCOPE_BASELINE_CGROUP_LIMITS_H
#define COPYSCOPE_BASELINE_CGROUP_LIMITS_H

#include <stdint.h>

/* CPUs at once; INFINITY: no limit. */
double cgroup_cpus(void);

/* Bytes of memory; UINT64_MAX: no limit. */
uint64_t cgroup_memory_bytes(void);

#endif
