/* SPDX-License-Identifier: GPL-2.0 */
/* Counts what one process and all its threads cost the processor, by perf_event_open. */
#ifndef COPYSCOPE_COUNTERS_H
#define COPYSCOPE_COUNTERS_H

#include <sys/types.h>

#include "userspace/counters/values.h"

struct perf_event_attr;

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
