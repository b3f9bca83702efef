// SPDX-License-Identifier: GPL-2.0
/* A log-linear histogram of durations, for percentiles of every sample. */
#include <math.h>

#include "userspace/workload/stream/latency.h"

#define SUB_BUCKETS (1u << LATENCY_SUB_BITS)

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < SUB_BUCKETS)
		return ns;
	if (ns >> LATENCY_MAX_BITS)
		return LATENCY_BUCKETS - 1;
	shift = 63 - __builtin_clzll(ns) - LATENCY_SUB_BITS;
	/* ns >> shift lies in 64..127: its top bit selects the row, the rest the bucket. */
	return (shift << LATENCY_SUB_BITS) + (ns >> shift);
}

static uint64_t bucket_middle_ns(unsigned int bucket)
{
	unsigned int shift;
	uint64_t low_ns;

	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	shift = (bucket >> LATENCY_SUB_BITS) - 1;
	low_ns = (uint64_t)(bucket - (shift << LATENCY_SUB_BITS)) << shift;
	return low_ns + (1ull << shift) / 2;
}

void latency_add(struct latency *latency, uint64_t ns)
{
	latency->samples++;
	latency->sum_ns += ns;
	latency->bucket[bucket_of(ns)]++;
}

void latency_merge(struct latency *sum, const struct latency *more)
{
	sum->samples += more->samples;
	sum->sum_ns += more->sum_ns;
	for (unsigned int i = 0; i < LATENCY_BUCKETS; i++)
		sum->bucket[i] += more->bucket[i];
}

double latency_mean_ns(const struct latency *latency)
{
	return (double)latency->sum_ns / latency->samples;
}

uint64_t latency_percentile_ns(const struct latency *latency, double fraction)
{
	uint64_t rank = ceil(fraction * latency->samples);
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		seen += latency->bucket[i];
		if (seen && seen >= rank)
			break;
	}
	return bucket_middle_ns(i);
}
