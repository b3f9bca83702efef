/* SPDX-License-Identifier: GPL-2.0 */
/* One set-associative cache that replaces the line used longest ago. Pure arithmetic on line numbers. */
#ifndef COPYSCOPE_CACHE_H
#define COPYSCOPE_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* An entry is the number of a line, and in its lowest bit whether no other processor has that line. */
#define CACHE_ALONE 1ull
#define CACHE_EMPTY UINT64_MAX

struct cache {
	uint64_t *entry;	/* sets * ways; of each set the one used last first */
	uint32_t sets, ways;
	bool by_mask;		/* sets is a power of two */
};

/* 0 or -ENOMEM. Its content is not known before cache_empty(). */
int cache_init(struct cache *cache, uint64_t bytes, uint32_t ways, uint32_t line);

void cache_empty(struct cache *cache);
void cache_free(struct cache *cache);

static inline uint64_t *cache_set(const struct cache *cache, uint64_t number)
{
	uint64_t set = cache->by_mask ? number & (cache->sets - 1) : number % cache->sets;

	return cache->entry + set * cache->ways;
}

static inline uint64_t *cache_to_front(uint64_t *set, uint64_t *found)
{
	uint64_t entry = *found;

	memmove(set + 1, set, (found - set) * sizeof(*set));
	*set = entry;
	return set;
}

/* The entry of a line that is there, and leaves the order as it is; else NULL. */
static inline uint64_t *cache_find(const struct cache *cache, uint64_t number)
{
	uint64_t *set = cache_set(cache, number);

	for (uint32_t way = 0; way < cache->ways; way++)
		if (set[way] >> 1 == number)
			return set + way;
	return NULL;
}

/* The same, and it is the line used last from now on. */
static inline uint64_t *cache_use(struct cache *cache, uint64_t number)
{
	uint64_t *set = cache_set(cache, number), *found;

	/* Most accesses are to the line used last. */
	if (*set >> 1 == number)
		return set;
	found = cache_find(cache, number);
	return found ? cache_to_front(set, found) : NULL;
}

/* Adds a line that is not there. Returns the entry that made room, or CACHE_EMPTY. */
static inline uint64_t cache_put(struct cache *cache, uint64_t number, uint64_t alone)
{
	uint64_t *set = cache_set(cache, number), *last = set + cache->ways - 1, out = *last;

	memmove(set + 1, set, (last - set) * sizeof(*set));
	*set = number << 1 | alone;
	return out;
}

/* Removes a line; false if it is not there. */
static inline bool cache_drop(struct cache *cache, uint64_t number)
{
	uint64_t *found = cache_find(cache, number), *last;

	if (!found)
		return false;
	last = cache_set(cache, number) + cache->ways - 1;
	memmove(found, found + 1, (last - found) * sizeof(*found));
	*last = CACHE_EMPTY;
	return true;
}

#endif
