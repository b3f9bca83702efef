/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums up repeated measurements, and finds steps in a curve of them; pure. Every function copies
 * what it must sort.
 */
#ifndef COPYSCOPE_BASELINE_STATS_H
#define COPYSCOPE_BASELINE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spread {
	size_t n;
	double mean, sd;	/* of the sample: n - 1; NAN for one value */
	double median, low, high;
	bool holds_95;		/* low to high holds the true median with 95 %; else the range */
};

double stats_mean(const double *values, size_t n);
double stats_sd(const double *values, size_t n);
double stats_median(const double *values, size_t n);

/* The value that a quarter of the others lie below, rounded down; NAN for none. */
double stats_lower_quartile(const double *values, size_t n);

/* The shortest of times: what is left where others disturbed some; NAN for none. */
double stats_least(const double *values, size_t n);

/* The mean without the lowest and the highest 10 %, rounded down. */
double stats_trimmed_mean(const double *values, size_t n);
double stats_trimmed_sd(const double *values, size_t n);

/*
 * Two modes: a gap of a quarter or more within the ordered values, two of them at least on either
 * side. Sets @low and @high to the medians of both sides.
 */
bool stats_two_modes(const double *values, size_t n, double *low, double *high);

/*
 * Ranks cut off at each end so that what is left holds the true median with 95 %: a binomial count
 * that assumes nothing of the distribution. -1: even all n values do not hold it so.
 */
int stats_rank_below(size_t n);

struct spread stats_spread(const double *values, size_t n);

/*
 * The spread of rounds apart in time, @n values each: low and high are the outermost ends of the
 * rounds' own intervals, so that slow drift of the machine is inside.
 */
struct spread stats_spread_rounds(const double *values, size_t n, size_t rounds);

enum level_id { LEVEL_L1, LEVEL_L2, LEVEL_L3, LEVEL_MEMORY, LEVELS };

/* Of a level, the points of the curve that lie on it. */
struct level {
	uint64_t from_bytes, to_bytes;	/* smallest and largest working set; 0: not found */
	double ns;			/* a load, the geometric mean of its points */
};

struct levels {
	struct level of[LEVELS];
};

/*
 * Finds where the levels of the cache end, from latency by working set. Cuts the curve into steps, of two
 * points each at least, so that the squared deviations of the logarithms are least. There are as many steps
 * as caches may end within the curve, and one more, or fewer, so that each is at least one and a half times
 * as slow as the one before. @claimed has the sizes that the kernel tells, 0 for none: a guest may get less of
 * a cache than that, and never more. The last step is main memory if all caches end before it or if it
 * reaches to twice the largest claim; otherwise nobody knows where it ends.
 */
void levels_find(struct levels *levels, const uint64_t *bytes, const double *ns, int n,
		 const uint64_t claimed[LEVEL_MEMORY]);

/* A load that takes longer is not from this level but from one beyond; NAN: not known. */
double levels_limit_ns(const struct levels *levels, enum level_id level);

/* The working set of a row: half of what the level holds, and more than the level before does. */
uint64_t levels_inside(const struct level *level);

/* What the last cache that was found holds; 0: none was found. */
uint64_t levels_last_bytes(const struct levels *levels);

#endif
