/* SPDX-License-Identifier: GPL-2.0 */
/* One clock for all of the workload. */
#ifndef WORKLOAD_CLOCK_H
#define WORKLOAD_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

/* CLOCK_MONOTONIC in ns; a vDSO call, cheap beside any system call. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* May return early, when a signal comes: callers loop and look at stop_requested(). */
static inline void clock_sleep_ns(uint64_t ns)
{
	struct timespec pause = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&pause, NULL);
}

#endif
