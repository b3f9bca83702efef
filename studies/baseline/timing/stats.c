// SPDX-License-Identifier: GPL-2.0
/* Mean, deviation, trimmed mean, median and its interval. */
#include "studies/baseline/timing/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODE_GAP 1.25

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Owned by the caller; NULL only without memory, which ends the program. */
static double *sorted(const double *values, size_t n)
{
	double *copy = malloc((n ? n : 1) * sizeof(*copy));

	if (!copy)
		abort();
	memcpy(copy, values, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), compare);
	return copy;
}

double stats_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return n ? sum / n : NAN;
}

double stats_sd(const double *values, size_t n)
{
	double mean = stats_mean(values, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return n > 1 ? sqrt(sum / (n - 1)) : NAN;
}

static double middle(const double *ordered, size_t n)
{
	if (!n)
		return NAN;
	return n % 2 ? ordered[n / 2] : (ordered[n / 2 - 1] + ordered[n / 2]) / 2;
}

double stats_median(const double *values, size_t n)
{
	double *ordered = sorted(values, n), found = middle(ordered, n);

	free(ordered);
	return found;
}

double stats_lower_quartile(const double *values, size_t n)
{
	double *ordered = sorted(values, n), found = n ? ordered[(n - 1) / 4] : NAN;

	free(ordered);
	return found;
}

double stats_least(const double *values, size_t n)
{
	double found = n ? values[0] : NAN;

	for (size_t i = 1; i < n; i++)
		found = fmin(found, values[i]);
	return found;
}

/* @of the values without the tenth at each end. */
static double trimmed(const double *values, size_t n, double (*of)(const double *, size_t))
{
	double *ordered = sorted(values, n);
	size_t cut = n / 10;
	double found = of(ordered + cut, n - 2 * cut);

	free(ordered);
	return found;
}

double stats_trimmed_mean(const double *values, size_t n)
{
	return trimmed(values, n, stats_mean);
}

double stats_trimmed_sd(const double *values, size_t n)
{
	return trimmed(values, n, stats_sd);
}

bool stats_two_modes(const double *values, size_t n, double *low, double *high)
{
	double *ordered = sorted(values, n), widest = 0;
	size_t at = 0;

	for (size_t i = 2; i + 2 <= n; i++) {
		double gap = ordered[i] / ordered[i - 1];

		at = gap > widest ? i : at;
		widest = fmax(gap, widest);
	}
	*low = middle(ordered, at);
	*high = middle(ordered + at, n - at);
	free(ordered);
	return widest >= MODE_GAP;
}

int stats_rank_below(size_t n)
{
	double tail = 0, term = pow(0.5, n);	/* n choose 0, over 2^n */
	int cut = -1;

	for (size_t rank = 0; rank < n / 2; rank++) {
		tail += term;
		if (2 * tail > 0.05)
			break;
		cut = rank;
		term *= (double)(n - rank) / (rank + 1);
	}
	return cut;
}

struct spread stats_spread(const double *values, size_t n)
{
	double *ordered = sorted(values, n);
	int cut = stats_rank_below(n);
	size_t below = cut < 0 ? 0 : cut;
	struct spread s = {
		.n = n,
		.mean = stats_mean(values, n),
		.sd = stats_sd(values, n),
		.median = middle(ordered, n),
		.low = n ? ordered[below] : NAN,
		.high = n ? ordered[n - 1 - below] : NAN,
		.holds_95 = cut >= 0,
	};

	free(ordered);
	return s;
}

struct spread stats_spread_rounds(const double *values, size_t n, size_t rounds)
{
	struct spread all = stats_spread(values, n * rounds);

	for (size_t round = 0; round < rounds; round++) {
		struct spread one = stats_spread(values + round * n, n);

		all.low = fmin(all.low, one.low);
		all.high = fmax(all.high, one.high);
		all.holds_95 = all.holds_95 && one.holds_95;
	}
	return all;
}
