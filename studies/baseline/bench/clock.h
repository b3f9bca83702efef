/* SPDX-License-Identifier: GPL-2.0 */
/* The processor's own clock, read in order with the instructions around it. */
#ifndef COPYSCOPE_BASELINE_CLOCK_H
#define COPYSCOPE_BASELINE_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__)
/*
 * cpuid, which the published programs serialise with, traps to the hypervisor in a guest and
 * takes microseconds. lfence waits for all earlier instructions and costs next to nothing.
 */
static inline uint64_t clock_begin(void)
{
	uint32_t low, high;

	asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t clock_end(void)
{
	uint32_t low, high, cpu;

	asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(cpu) : : "memory");
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
static inline uint64_t clock_begin(void)
{
	uint64_t ticks;

	asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
	return ticks;
}

static inline uint64_t clock_end(void)
{
	return clock_begin();
}
#else
#error "no clock known for this processor"
#endif

/* What is read, and how often it ticks. Calibrated against CLOCK_MONOTONIC_RAW on first use. */
const char *clock_name(void);
double clock_ticks_per_ns(void);

/* Time that this thread ran, without what other tasks took. */
double clock_ran_ns(void);

static inline double clock_ns(uint64_t ticks)
{
	return ticks / clock_ticks_per_ns();
}

/*
 * CPU time of twice the turns over that of once: about 2, unless they overlap or were left out.
 * @own is what @turn works on.
 */
double slope_of(void (*turn)(void *own, uint64_t turns), void *own);

#endif
