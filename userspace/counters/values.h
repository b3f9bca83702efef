/* SPDX-License-Identifier: GPL-2.0 */
/* What the counters of a process said, as plain data. */
#ifndef COPYSCOPE_COUNTERS_VALUES_H
#define COPYSCOPE_COUNTERS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTER_WHY_BYTES 192
#define COUNTER_PMU_BYTES 32
/* Kinds of processor core in one machine: two on Intel hybrids, three on some Arm systems. */
#define COUNTER_PARTS_MAX 4

/* Counts are events, but task-clock is in nanoseconds of processor time. */
enum counter_event {
	COUNTER_CYCLES,
	COUNTER_INSTRUCTIONS,
	COUNTER_L1D_LOAD_MISSES,
	COUNTER_LLC_LOAD_MISSES,
	COUNTER_CACHE_MISSES,	/* as perf's cache-misses: what they are differs between processors */
	COUNTER_CONTEXT_SWITCHES,
	COUNTER_PAGE_FAULTS,
	COUNTER_TASK_CLOCK,
	COUNTER_COUNT
};

/*
 * What one PMU (one kind of core) counted. `value` is the plain count, or if `scaled` the count
 * times the factor of the whole: either way the known parts of a known whole add up to it, but
 * for rounding. running_share is 0..1: the share of the process's time this PMU counted.
 */
struct counter_part {
	char pmu[COUNTER_PMU_BYTES];	/* as in sysfs: "cpu", "cpu_core", "software" */
	bool known;
	uint64_t value;
	bool scaled;
	double running_share;
	char why[COUNTER_WHY_BYTES];	/* not empty when not known */
};

/*
 * One event, user and kernel part together. `value` means nothing unless `known`. `scaled`: the
 * event shared its hardware counter, and value is the count divided by running_share (0..1).
 */
struct counter_value {
	bool known;
	uint64_t value;
	bool scaled;
	double running_share;
	char why[COUNTER_WHY_BYTES];	/* not empty when not known */
	unsigned int parts;		/* above 1 only on hybrid processors */
	struct counter_part part[COUNTER_PARTS_MAX];
};

/* The event's name as in perf and in the run record; NULL when out of range. */
const char *counter_name(enum counter_event event);

#endif
