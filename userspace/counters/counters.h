/* SPDX-License-Identifier: GPL-2.0 */
/* Counts what one process and all its threads cost the processor, by perf_event_open. */
#ifndef COPYSCOPE_COUNTERS_H
#define COPYSCOPE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

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

/* What tests replace; a NULL member, or a NULL struct, is the real thing. */
struct counter_env {
	const char *sysfs_root;		/* "/sys" */
	/* As the system call: a file descriptor, or -1 and errno. */
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		    unsigned long flags);
	/* Starts one event: 0, or -1 and errno. */
	int (*enable)(int fd);
};

struct counter_set;

/* The event's name as in perf and in the run record; NULL when out of range. */
const char *counter_name(enum counter_event event);

/*
 * Opens all events on `pid`, stopped. The process must still be single-threaded: threads it
 * creates from now on are counted, threads it already has are not. An event that cannot be
 * opened is no error, it reads as not known.
 * Returns 0, -EINVAL (pid below 1), -ESRCH (no such process), -EBUSY (it already has threads)
 * or -ENOMEM; on error *out is NULL.
 */
int counters_open(struct counter_set **out, pid_t pid, const struct counter_env *env);

/* Closes all events; NULL is accepted. */
void counters_close(struct counter_set *set);

/*
 * Starts all events, also in threads that exist by now. Returns 0, or the first -errno; an event
 * that could not be started reads as not known, the others run.
 */
int counters_enable(struct counter_set *set);

/*
 * Reads all events. Call it when the process has ended: the kernel has then added every thread's
 * counts. Returns 0, or -EINVAL for a NULL set; values are filled in either case.
 */
int counters_read(struct counter_set *set, struct counter_value values[COUNTER_COUNT]);

#endif
