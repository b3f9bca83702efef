// SPDX-License-Identifier: GPL-2.0
/* Makes an empty cache of a given size, and frees it. */
#include "studies/plugin/cache.h"

#include <errno.h>
#include <stdlib.h>

int cache_init(struct cache *cache, uint64_t bytes, uint32_t ways, uint32_t line)
{
	uint64_t entries = bytes / line;

	*cache = (struct cache){ .sets = entries / ways, .ways = ways };
	cache->by_mask = !(cache->sets & (cache->sets - 1));
	cache->entry = malloc(entries * sizeof(*cache->entry));
	return cache->entry ? 0 : -ENOMEM;
}

void cache_empty(struct cache *cache)
{
	memset(cache->entry, 0xff, (size_t)cache->sets * cache->ways * sizeof(*cache->entry));
}

void cache_free(struct cache *cache)
{
	free(cache->entry);
	cache->entry = NULL;
}
