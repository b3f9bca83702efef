// SPDX-License-Identifier: GPL-2.0
/* Looks an access up level by level, fills on the way back, and keeps the processors coherent. */
#include "studies/plugin/hierarchy.h"

#include <stdlib.h>

#include "studies/plugin/cache.h"

struct processor {
	struct cache own[CACHE_LLC];	/* L1d, L2 */
	uint64_t last_line[2];		/* of loads, of stores */
};

struct hierarchy {
	struct hierarchy_shape shape;
	unsigned int line_shift;
	struct cache llc;
	struct processor processor[];
};

static bool power_of_two(uint64_t number)
{
	return number && !(number & (number - 1));
}

const char *hierarchy_fault(const struct hierarchy_shape *shape)
{
	if (!power_of_two(shape->line_bytes) || shape->line_bytes < 16 || shape->line_bytes > 1024)
		return "a line must have 16 to 1024 bytes, a power of two";
	if (shape->processors < 1 || shape->processors > CACHE_PROCESSORS_MAX)
		return "there must be 1 to 64 processors";
	for (int l = 0; l < CACHE_LEVELS; l++) {
		const struct level_shape *level = &shape->level[l];

		if (level->ways < 1 || level->ways > CACHE_WAYS_MAX)
			return "a cache must have 1 to 64 ways";
		if (!level->bytes || level->bytes > 1ull << 30 ||
		    level->bytes % ((uint64_t)level->ways * shape->line_bytes))
			return "the bytes of a cache must be ways * line * sets, at most 1 GiB";
		if (l && level->bytes < level[-1].bytes)
			return "a cache must not be smaller than the one above it";
	}
	return NULL;
}

struct hierarchy *hierarchy_create(const struct hierarchy_shape *shape)
{
	struct hierarchy *h = calloc(1, sizeof(*h) + shape->processors * sizeof(h->processor[0]));
	const struct level_shape *level = shape->level;
	int err;

	if (!h)
		return NULL;
	h->shape = *shape;
	h->line_shift = __builtin_ctz(shape->line_bytes);
	err = cache_init(&h->llc, level[CACHE_LLC].bytes, level[CACHE_LLC].ways, shape->line_bytes);
	for (unsigned int p = 0; p < shape->processors; p++) {
		struct processor *each = &h->processor[p];

		for (int l = 0; l < CACHE_LLC; l++)
			err = err ? err : cache_init(&each->own[l], level[l].bytes, level[l].ways,
						     shape->line_bytes);
	}
	if (err) {
		hierarchy_free(h);
		return NULL;
	}
	hierarchy_empty(h);
	return h;
}

void hierarchy_empty(struct hierarchy *h)
{
	cache_empty(&h->llc);
	for (struct processor *p = h->processor; p < h->processor + h->shape.processors; p++) {
		p->last_line[0] = p->last_line[1] = CACHE_EMPTY;
		for (int l = 0; l < CACHE_LLC; l++)
			cache_empty(&p->own[l]);
	}
}

void hierarchy_free(struct hierarchy *h)
{
	if (!h)
		return;
	cache_free(&h->llc);
	for (unsigned int p = 0; p < h->shape.processors; p++)
		for (int l = 0; l < CACHE_LLC; l++)
			cache_free(&h->processor[p].own[l]);
	free(h);
}

static void drop_everywhere(struct hierarchy *h, uint64_t number, const struct processor *but)
{
	for (struct processor *p = h->processor; p < h->processor + h->shape.processors; p++)
		for (int l = 0; l < CACHE_LLC && p != but; l++)
			cache_drop(&p->own[l], number);
}

/* True if no other processor has the line. Those that have it learn that they are not alone. */
static bool alone_with(struct hierarchy *h, uint64_t number, const struct processor *me)
{
	bool alone = true;

	for (struct processor *p = h->processor; p < h->processor + h->shape.processors; p++) {
		uint64_t *near;

		if (p == me)
			continue;
		near = cache_find(&p->own[CACHE_L1D], number);
		if (near)
			*near &= ~CACHE_ALONE;
		if (near || cache_find(&p->own[CACHE_L2], number))
			alone = false;
	}
	return alone;
}

/* Beyond L2. Returns true if the line was in the last-level cache. */
static bool llc_access(struct hierarchy *h, uint64_t number, bool fill)
{
	bool found, moves = h->shape.llc == LLC_VICTIM && fill;
	uint64_t out;

	found = moves ? cache_drop(&h->llc, number) : cache_use(&h->llc, number) != NULL;
	if (found || !fill || h->shape.llc == LLC_VICTIM)
		return found;
	out = cache_put(&h->llc, number, 0);
	if (h->shape.llc == LLC_INCLUSIVE && out != CACHE_EMPTY)
		drop_everywhere(h, out >> 1, NULL);
	return false;
}

static void l2_fill(struct hierarchy *h, struct processor *p, uint64_t number)
{
	uint64_t out = cache_put(&p->own[CACHE_L2], number, 0);

	/* Another processor's L2 may have evicted the same line before. */
	if (h->shape.llc == LLC_VICTIM && out != CACHE_EMPTY && !cache_use(&h->llc, out >> 1))
		cache_put(&h->llc, out >> 1, 0);
}

static void missed(struct access_counts *counts, enum cache_level level, bool store)
{
	counts->misses[level]++;
	counts->load_misses[level] += !store;
}

static void miss_l1d(struct hierarchy *h, struct processor *p, uint64_t number, bool store,
		     struct access_counts *counts)
{
	bool fill = !store || h->shape.write_allocate;
	uint64_t alone = CACHE_ALONE;

	missed(counts, CACHE_L1D, store);
	if (h->shape.processors > 1) {
		if (store)
			drop_everywhere(h, number, p);
		else if (!alone_with(h, number, p))
			alone = 0;
	}
	if (!cache_use(&p->own[CACHE_L2], number)) {
		missed(counts, CACHE_L2, store);
		if (!llc_access(h, number, fill))
			missed(counts, CACHE_LLC, store);
		if (fill)
			l2_fill(h, p, number);
	}
	if (fill)
		cache_put(&p->own[CACHE_L1D], number, alone);
}

static void access_line(struct hierarchy *h, struct processor *p, uint64_t number, bool store,
			struct access_counts *counts)
{
	uint64_t *near = cache_use(&p->own[CACHE_L1D], number);

	if (number != p->last_line[store]) {
		p->last_line[store] = number;
		counts->lines++;
	}
	if (!near) {
		miss_l1d(h, p, number, store, counts);
	} else if (store && !(*near & CACHE_ALONE)) {
		drop_everywhere(h, number, p);
		*near |= CACHE_ALONE;
	}
}

void hierarchy_access(struct hierarchy *h, unsigned int processor, uint64_t address,
		      unsigned int bytes, bool store, struct access_counts *counts)
{
	uint64_t last = (address + bytes - 1) >> h->line_shift;
	struct processor *p = &h->processor[processor];

	*(store ? &counts->stores : &counts->loads) += 1;
	for (uint64_t number = address >> h->line_shift; number <= last; number++)
		access_line(h, p, number, store, counts);
}
