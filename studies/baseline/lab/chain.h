/* SPDX-License-Identifier: GPL-2.0 */
/* A cycle through all cache lines of a working set: each load has to wait for the one before. */
#ifndef COPYSCOPE_BASELINE_CHAIN_H
#define COPYSCOPE_BASELINE_CHAIN_H

#include <stdint.h>

#include "studies/baseline/bench/work.h"

enum chain_order {
	CHAIN_AT_RANDOM,
	CHAIN_BY_PAGES,		/* each page once, then each again: as lmbench's lat_mem_rd -t */
	CHAIN_IN_ORDER,
};

struct line;

struct chain {
	struct line *lines, *at;
	uint64_t bytes;
};

/* Makes *@c anew unless it has that size, and goes round once. 0, or -errno with w->why set. */
int chain_make(struct work *w, struct chain *c, uint64_t bytes, enum chain_order order);
void chain_free(struct chain *c);

/* Goes on where the last walk stopped: one that began anew would find its lines cached. */
void chain_walk(void *chain, uint64_t loads);

/* Loads from @from to where the chain is now; of whole rounds, as many as @asked has room for. */
uint64_t chain_loads_since(const struct chain *c, const struct line *from, uint64_t asked);

/* Share of loads that go to the next line in memory: how much a prefetcher would foresee. */
double chain_orderly_share(const struct chain *c);

/* Share of short stretches whose loads take less than @limit_ns each; NAN if that is not known. */
double chain_fast_share(struct chain *c, double limit_ns);

#endif
