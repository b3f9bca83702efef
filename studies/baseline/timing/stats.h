/* SPDX-License-Identifier: GPL-2.0 */
/* Sums up repeated measurements; pure. Every function copies what it must sort. */
#ifndef COPYSCOPE_BASELINE_STATS_H
#define COPYSCOPE_BASELINE_STATS_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
