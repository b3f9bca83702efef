// SPDX-License-Identifier: GPL-2.0
/* Calibrates the processor's clock: ticks in a nanosecond. */
#include "studies/baseline/timing/clock.h"

#include <time.h>

#include "studies/baseline/timing/stats.h"

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
