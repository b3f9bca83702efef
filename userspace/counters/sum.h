/* SPDX-License-Identifier: GPL-2.0 */
/* Turns what the kernel read out into values one may believe; pure, no input or output. */
#ifndef COPYSCOPE_COUNTERS_SUM_H
#define COPYSCOPE_COUNTERS_SUM_H

#include "userspace/counters/counters.h"

/* One event on one PMU as read. Times are summed over all threads of the process. */
struct counter_reading {
	char pmu[COUNTER_PMU_BYTES];
	char why[COUNTER_WHY_BYTES];	/* not empty: could not be opened, started or read */
	uint64_t count;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/* Sums the readings (1..COUNTER_PARTS_MAX) of one event. */
void counter_sum(enum counter_event event, const struct counter_reading *readings,
		 unsigned int parts, struct counter_value *value);

/* Withdraws misses that read exactly 0 over a run too busy to have had none. */
void counter_doubt(struct counter_value values[COUNTER_COUNT]);

#endif
