// SPDX-License-Identifier: GPL-2.0
// Names the events as perf does.
#include "userspace/counters/values.h"

#include <stddef.h>

static const char *const names[COUNTER_COUNT] = {
	[COUNTER_CYCLES] = "cycles",
	[COUNTER_INSTRUCTIONS] = "instructions",
	[COUNTER_L1D_LOAD_MISSES] = "L1-dcache-load-misses",
	[COUNTER_LLC_LOAD_MISSES] = "LLC-load-misses",
	[COUNTER_CACHE_MISSES] = "cache-misses",
	[COUNTER_CONTEXT_SWITCHES] = "context-switches",
	[COUNTER_PAGE_FAULTS] = "page-faults",
	[COUNTER_TASK_CLOCK] = "task-clock",
};

const char *counter_name(enum counter_event event)
{
	return (unsigned int)event < COUNTER_COUNT ? names[event] : NULL;
}
