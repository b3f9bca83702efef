/* SPDX-License-Identifier: GPL-2.0 */
/* Finds where the levels of the cache end, from latency by working set; pure. */
#ifndef COPYSCOPE_BASELINE_LEVELS_H
#define COPYSCOPE_BASELINE_LEVELS_H

#include <stdint.h>

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
 * Cuts a curve into steps, of two points each at least, so that the squared deviations of the
 * logarithms are least. There are as many steps as caches may end within the curve, and one more, or
 * fewer, so that each is at least one and a half times as slow as the one before. @claimed has the sizes that the kernel tells, 0 for none:
 * a guest may get less of a cache than that, and never more. The last step is main memory if all
 * caches end before it or if it reaches to twice the largest claim; otherwise nobody knows where it
 * ends.
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
