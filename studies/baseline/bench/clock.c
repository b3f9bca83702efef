// SPDX-License-Identifier: GPL-2.0
/* Calibrates the processor's clock: ticks in a nanosecond. Times short trials of a loop. */
#include "studies/baseline/bench/clock.h"

#include <time.h>

#include "studies/baseline/bench/stats.h"

enum { TRIALS = 5, TRIAL_NS = 20000000 };

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The median of trials: an interrupt between the two readings makes one wrong. */
static double calibrate(void)
{
	double trials[TRIALS];

	for (int i = 0; i < TRIALS; i++) {
		uint64_t from_ns = monotonic_ns(), from = clock_begin(), ns, ticks;

		do {
			ns = monotonic_ns() - from_ns;
		} while (ns < TRIAL_NS);
		ticks = clock_end() - from;
		trials[i] = (double)ticks / ns;
	}
	return stats_median(trials, TRIALS);
}

double clock_ticks_per_ns(void)
{
	static double known;

	if (!known)
		known = calibrate();
	return known;
}

double clock_ran_ns(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return ran.tv_sec * 1e9 + ran.tv_nsec;
}

const char *clock_name(void)
{
#if defined(__x86_64__)
	return "time stamp counter (lfence rdtsc, rdtscp lfence)";
#else
	return "cntvct_el0 (isb)";
#endif
}

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
