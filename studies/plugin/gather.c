// SPDX-License-Identifier: GPL-2.0
/* Keeps the memory that messages are gathered into, and the part of it that one gathering fills. */
#include "studies/plugin/gather.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct memory {
	uint64_t first, last;
};

static struct memory *memories;
static size_t memory_count, at;	/* the one that was filled last */

void gather_learn(uint64_t first, uint64_t last)
{
	const struct memory new = { first, last };
	struct memory *more;

	/* Memory that was freed may be part of what is allocated later. */
	for (size_t i = 0; i < memory_count; i++) {
		if (memories[i].first <= last && first <= memories[i].last) {
			memories[i] = new;
			return;
		}
	}
	more = reallocarray(memories, memory_count + 1, sizeof(*memories));
	if (!more) {
		fprintf(stderr, "copyscope plugin: out of memory\n");
		abort();
	}
	memories = more;
	memories[memory_count++] = new;
}

void gather_forget(void)
{
	memory_count = at = 0;
}

static bool is_in(uint64_t address, size_t number)
{
	return number < memory_count && address >= memories[number].first &&
	       address <= memories[number].last;
}

void gather_add(struct gathered *g, uint64_t address, unsigned int bytes)
{
	if (!is_in(address, at)) {
		at = 0;
		while (at < memory_count && !is_in(address, at))
			at++;
	}
	if (at == memory_count)
		return;
	if (!g->high || address < g->low)
		g->low = address;
	if (address + bytes > g->high)
		g->high = address + bytes;
}

uint64_t gather_end(struct gathered *g)
{
	uint64_t bytes = g->high - g->low;

	g->low = g->high = 0;
	return bytes;
}
