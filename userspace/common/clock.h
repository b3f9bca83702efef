/* SPDX-License-Identifier: GPL-2.0 */
/* The clock that deadlines and durations go by, CLOCK_MONOTONIC; and what this process has used of processors. */
#ifndef COPYSCOPE_CLOCK_H
#define COPYSCOPE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* A vDSO call, cheap beside any system call. */
static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Processor time of all threads of this process: a system call. */
static inline uint64_t processor_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int64_t monotonic_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

/* Returns early when a signal comes: callers loop until what they wait for is there. */
static inline void sleep_ns(uint64_t ns)
{
	struct timespec pause = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&pause, NULL);
}

#endif
