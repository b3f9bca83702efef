/* SPDX-License-Identifier: GPL-2.0 */
/* Names the counted events as perf_event_open wants them, and the PMUs that count them. */
#ifndef COPYSCOPE_COUNTERS_EVENTS_H
#define COPYSCOPE_COUNTERS_EVENTS_H

#include "userspace/counters/values.h"

struct event_spec {
	uint32_t type;		/* PERF_TYPE_* */
	uint64_t config;
};

struct core_pmu {
	char name[COUNTER_PMU_BYTES];
	uint32_t type;		/* the number the kernel gave it at boot */
};

const struct event_spec *event_spec(enum counter_event event);

/* True when a PMU counts it, false when the kernel's software does. */
bool event_is_hardware(enum counter_event event);

/*
 * Finds the PMUs of processor cores, sorted by name: none is normal for a machine whose PMU has
 * no list of CPUs (its name is then "cpu") and for a machine without a PMU. Fills at most
 * COUNTER_PARTS_MAX and returns how many there are.
 */
unsigned int core_pmus_find(const char *sysfs_root, struct core_pmu pmus[COUNTER_PARTS_MAX]);

/* Writes why an event could not be opened. */
void event_refusal(char why[COUNTER_WHY_BYTES], int error);

#endif
