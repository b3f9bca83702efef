// SPDX-License-Identifier: GPL-2.0
/* Times short trials of a loop by the thread's CPU clock. */
#include "studies/baseline/timing/slope.h"

#include "studies/baseline/timing/clock.h"
#include "studies/baseline/timing/stats.h"

enum { SLOPE_TRIALS = 15, SLOPE_TURNS = 20000 };

/*
 * The lower quartiles of some short trials each: a hypervisor lengthens some, and a stretch of a
 * large cycle that happens to lie in a nearer cache shortens one.
 */
double slope_of(void (*turn)(void *own, uint64_t turns), void *own)
{
	double ns[2][SLOPE_TRIALS];

	for (int trial = 0; trial < 2 * SLOPE_TRIALS; trial++) {
		double from = clock_ran_ns();

		turn(own, SLOPE_TURNS << (trial & 1));
		ns[trial & 1][trial / 2] = clock_ran_ns() - from;
	}
	return stats_lower_quartile(ns[1], SLOPE_TRIALS) /
	       stats_lower_quartile(ns[0], SLOPE_TRIALS);
}
