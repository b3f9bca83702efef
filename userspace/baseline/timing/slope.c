// SPDX-License-Identifier: GPL-2.0
/* Times short trials of a loop by the thread's CPU clock. */
#include "userspace/baseline/timing/slope.h"

#include <time.h>

#include "userspace/baseline/timing/stats.h"

enum { SLOPE_TRIALS = 15, SLOPE_TURNS = 20000 };

/* Time that this thread ran, without what other tasks took. */
static double ran_ns(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return ran.tv_sec * 1e9 + ran.tv_nsec;
}

/*
 * The lower quartiles of some short trials each: a hypervisor lengthens some, and a stretch of a
 * large cycle that happens to lie in a nearer cache shortens one.
 */
double slope_of(void (*turn)(void *own, uint64_t turns), void *own)
{
	double ns[2][SLOPE_TRIALS];

	for (int trial = 0; trial < 2 * SLOPE_TRIALS; trial++) {
		double from = ran_ns();

		turn(own, SLOPE_TURNS << (trial & 1));
		ns[trial & 1][trial / 2] = ran_ns() - from;
	}
	return stats_lower_quartile(ns[1], SLOPE_TRIALS) /
	       stats_lower_quartile(ns[0], SLOPE_TRIALS);
}
