/* SPDX-License-Identifier: GPL-2.0 */
/* A log-linear histogram of durations, for percentiles of every sample. */
#ifndef WORKLOAD_LATENCY_H
#define WORKLOAD_LATENCY_H

#include <stdint.h>

/*
 * Each power of two is cut into 64 equal buckets and a percentile is the middle of its
 * bucket: at most 1/128 (0.8 %) off. Below 128 ns it is exact; above 2^42 ns (73 minutes)
 * everything falls into the last bucket. The mean is exact.
 */
#define LATENCY_SUB_BITS 6
#define LATENCY_MAX_BITS 42
#define LATENCY_BUCKETS ((LATENCY_MAX_BITS - LATENCY_SUB_BITS + 1) << LATENCY_SUB_BITS)

struct latency {
	uint64_t samples;
	uint64_t sum_ns;
	uint64_t bucket[LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, uint64_t ns);
void latency_merge(struct latency *sum, const struct latency *more);

/* @samples must not be 0. @fraction is 0.5 for the median. Both return ns. */
double latency_mean_ns(const struct latency *latency);
uint64_t latency_percentile_ns(const struct latency *latency, double fraction);

#endif
