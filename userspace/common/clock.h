/* SPDX-License-Identifier: GPL-2.0 */
/* The clock that deadlines and durations go by: CLOCK_MONOTONIC. */
#ifndef COPYSCOPE_CLOCK_H
#define COPYSCOPE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline int64_t monotonic_ms(void)
{
	return monotonic_ns() / 1000000;
}

#endif
