// SPDX-License-Identifier: GPL-2.0
/* Mean, deviation, trimmed mean, median and its interval; the steps of a curve of latency. */
#include "studies/baseline/bench/stats.h"

#include <math.h>
#include <stdbool.h>
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

enum { POINTS = 64, STEP_POINTS = 2 };

static const double least_step = 1.5, most_of_claim = 1.5;

/* The curve in logarithms, summed up from its beginning. */
struct sums {
	double sum[POINTS + 1], squares[POINTS + 1];
};

struct steps {
	int count;
	int end[LEVELS];	/* behind the last point of each */
};

static double mean(const struct sums *s, int from, int to)
{
	return (s->sum[to] - s->sum[from]) / (to - from);
}

static double deviation(const struct sums *s, int from, int to)
{
	double sum = s->sum[to] - s->sum[from];

	return s->squares[to] - s->squares[from] - sum * sum / (to - from);
}

/* The best cut of the first @n points into @count steps, by the best cuts into fewer. */
static void cut(const struct sums *s, int n, int count, struct steps *best)
{
	double least[LEVELS + 1][POINTS + 1];
	int begin[LEVELS + 1][POINTS + 1];

	for (int k = 1; k <= count; k++) {
		for (int to = k * STEP_POINTS; to <= n; to++) {
			least[k][to] = k == 1 ? deviation(s, 0, to) : INFINITY;
			begin[k][to] = 0;
			for (int at = (k - 1) * STEP_POINTS; k > 1 && at + STEP_POINTS <= to; at++) {
				double all = least[k - 1][at] + deviation(s, at, to);

				if (all >= least[k][to])
					continue;
				least[k][to] = all;
				begin[k][to] = at;
			}
		}
	}
	best->count = count;
	for (int k = count, to = n; k > 0; to = begin[k--][to])
		best->end[k - 1] = to;
}

static int begin_of(const struct steps *steps, int i)
{
	return i ? steps->end[i - 1] : 0;
}

/* True if every step goes up by as much as the next level of a cache costs. */
static bool all_rise(const struct sums *s, const struct steps *steps)
{
	for (int i = 1; i < steps->count; i++)
		if (mean(s, steps->end[i - 1], steps->end[i]) -
		    mean(s, begin_of(steps, i - 1), steps->end[i - 1]) < log(least_step))
			return false;
	return true;
}

static uint64_t largest(const uint64_t claimed[LEVEL_MEMORY])
{
	uint64_t most = 0;

	for (int i = 0; i < LEVEL_MEMORY; i++)
		most = claimed[i] > most ? claimed[i] : most;
	return most;
}

/* A curve that ends within a cache has no step for what lies beyond it. */
static int most_steps(uint64_t last_bytes, const uint64_t claimed[LEVEL_MEMORY])
{
	int steps = 1;

	for (int i = 0; i < LEVEL_MEMORY; i++)
		steps += claimed[i] <= last_bytes;
	return steps;
}

/* The first level after @at that claims as much as a step of the curve reaches to. */
static int level_of(uint64_t bytes, const uint64_t claimed[LEVEL_MEMORY], int at)
{
	while (at < LEVEL_MEMORY && claimed[at] && bytes > most_of_claim * claimed[at])
		at++;
	return at;
}

static void name_steps(struct levels *levels, const struct sums *s, const struct steps *steps,
		       const uint64_t *bytes, const uint64_t claimed[LEVEL_MEMORY])
{
	int at = 0;

	for (int i = 0; i < steps->count; i++) {
		const struct level found = {
			bytes[begin_of(steps, i)], bytes[steps->end[i] - 1],
			exp(mean(s, begin_of(steps, i), steps->end[i])),
		};

		if (i + 1 < steps->count) {
			at = level_of(found.to_bytes, claimed, at);
			if (at < LEVEL_MEMORY)
				levels->of[at++] = found;
		} else if (at == LEVEL_MEMORY || found.to_bytes >= 2 * largest(claimed)) {
			levels->of[LEVEL_MEMORY] = found;
		}
	}
}

void levels_find(struct levels *levels, const uint64_t *bytes, const double *ns, int n,
		 const uint64_t claimed[LEVEL_MEMORY])
{
	struct steps steps;
	struct sums s = {};

	memset(levels, 0, sizeof(*levels));
	n = n < POINTS ? n : POINTS;
	for (int i = 0; i < n; i++) {
		s.sum[i + 1] = s.sum[i] + log(ns[i]);
		s.squares[i + 1] = s.squares[i] + log(ns[i]) * log(ns[i]);
	}
	for (int count = n ? most_steps(bytes[n - 1], claimed) : 0; count > 1; count--) {
		if (n < count * STEP_POINTS)
			continue;
		cut(&s, n, count, &steps);
		if (!all_rise(&s, &steps))
			continue;
		name_steps(levels, &s, &steps, bytes, claimed);
		return;
	}
}

double levels_limit_ns(const struct levels *levels, enum level_id level)
{
	for (int next = level + 1; next < LEVELS && levels->of[level].ns; next++)
		if (levels->of[next].ns)
			return sqrt(levels->of[level].ns * levels->of[next].ns);
	return NAN;
}

uint64_t levels_inside(const struct level *level)
{
	uint64_t half = level->to_bytes / 2;

	return half > level->from_bytes ? half : level->from_bytes;
}

uint64_t levels_last_bytes(const struct levels *levels)
{
	for (int i = LEVEL_MEMORY - 1; i >= 0; i--)
		if (levels->of[i].to_bytes)
			return levels->of[i].to_bytes;
	return 0;
}
