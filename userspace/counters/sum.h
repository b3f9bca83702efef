/* SPDX-License-Identifier: GPL-2.0 */
/* Turns what the kernel counted into values that are known or not, with the reason. Pure. */
#ifndef COPYSCOPE_COUNTERS_SUM_H
#define COPYSCOPE_COUNTERS_SUM_H

#include "userspace/counters/values.h"

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

/* Marks misses as not known if they are exactly 0 after a run of very many instructions. */
void counter_doubt(struct counter_value values[COUNTER_COUNT]);

#endif
