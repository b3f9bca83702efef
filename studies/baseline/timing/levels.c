// SPDX-License-Identifier: GPL-2.0
/* Fits steps to a curve of latency, and names them by the sizes that the kernel claims. */
#include "studies/baseline/timing/levels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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
