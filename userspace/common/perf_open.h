/* SPDX-License-Identifier: GPL-2.0 */
/* The system call perf_event_open, which the C library does not wrap. */
#ifndef COPYSCOPE_PERF_OPEN_H
#define COPYSCOPE_PERF_OPEN_H

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* A descriptor, or -1 and errno. */
static inline int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			    unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

#endif
