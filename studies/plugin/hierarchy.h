/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data caches of a machine: L1d and L2 for each processor, one last-level cache for all of them.
 *
 * Each level replaces the line used longest ago. L2 holds what it likes of L1d. A store takes the line away
 * from the other processors. There is no prefetcher, no time, and no instruction in these caches;
 * docs/COUNTERS.md says what that means.
 */
#ifndef COPYSCOPE_CACHE_HIERARCHY_H
#define COPYSCOPE_CACHE_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

enum cache_level { CACHE_L1D, CACHE_L2, CACHE_LLC, CACHE_LEVELS };

enum llc_kind {
	LLC_INCLUSIVE,		/* what it evicts, every L1d and L2 gives up */
	LLC_NON_INCLUSIVE,	/* filled by each miss, evicts for itself alone */
	LLC_VICTIM,		/* holds what an L2 evicted, and hands it back */
	LLC_KINDS
};

enum { CACHE_PROCESSORS_MAX = 64, CACHE_WAYS_MAX = 64 };

struct level_shape {
	uint64_t bytes;
	uint32_t ways;
};

struct hierarchy_shape {
	struct level_shape level[CACHE_LEVELS];
	uint32_t line_bytes;
	uint32_t processors;
	enum llc_kind llc;
	bool write_allocate;	/* a store that misses brings the line in */
};

/* Sums of accesses. */
struct access_counts {
	uint64_t loads, stores;
	uint64_t lines;		/* accesses that left the line of the one before, for loads and stores apart */
	uint64_t misses[CACHE_LEVELS];	/* line by line, of loads and stores */
	uint64_t load_misses[CACHE_LEVELS];	/* those of loads */
};

struct hierarchy;

/* What is wrong with a shape; NULL: nothing. */
const char *hierarchy_fault(const struct hierarchy_shape *shape);

/* With empty caches. NULL: out of memory. */
struct hierarchy *hierarchy_create(const struct hierarchy_shape *shape);

/* No line is in any cache any more. */
void hierarchy_empty(struct hierarchy *h);

/* NULL is accepted. */
void hierarchy_free(struct hierarchy *h);

/* One load or store of @bytes by a processor, added to @counts. */
void hierarchy_access(struct hierarchy *h, unsigned int processor, uint64_t address,
		      unsigned int bytes, bool store, struct access_counts *counts);

#endif
