// SPDX-License-Identifier: GPL-2.0
/* Links the lines of a working set, walks along them, and tells what a walk did. */
#include "studies/baseline/lab/chain.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "studies/baseline/lab/ram.h"
#include "studies/baseline/timing/clock.h"

enum { LINE_BYTES = 64, LINES_A_PAGE = 4096 / LINE_BYTES };
/* From here on sets of powers of two are linked in order of addresses: seconds less for a GiB. */
enum { LARGE_BYTES = 32 << 20 };
/* As many loads a stretch as make reading the clock a small part even in the L1 cache. */
enum { STRETCHES = 1000, STRETCH_LOADS = 256 };

struct line {
	struct line *next;
	char rest[LINE_BYTES - sizeof(struct line *)];
};

/* Sattolo's shuffle of 0 to @count - 1. */
static void shuffle(uint32_t *order, uint64_t count)
{
	uint64_t state = 88172645463325252ull;

	for (uint64_t i = 0; i < count; i++)
		order[i] = i;
	for (uint64_t i = count - 1; i > 0; i--) {
		uint64_t j;
		uint32_t other;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		j = state % i;
		other = order[i];
		order[i] = order[j];
		order[j] = other;
	}
}

static void order_by_pages(uint32_t *order, uint64_t count)
{
	uint64_t pages = count / LINES_A_PAGE;
	uint32_t *page = malloc(pages * sizeof(*page)), line[LINES_A_PAGE];

	if (!page)
		abort();
	shuffle(page, pages);
	shuffle(line, LINES_A_PAGE);
	for (uint64_t i = 0; i < pages * LINES_A_PAGE; i++)
		order[i] = page[i % pages] * LINES_A_PAGE + line[i / pages];
	free(page);
}

static void link_by(struct line *lines, uint64_t count, enum chain_order how)
{
	uint32_t *order = malloc(count * sizeof(*order));

	if (!order)
		abort();
	if (how == CHAIN_BY_PAGES)
		order_by_pages(order, count);
	else
		shuffle(order, count);
	for (uint64_t i = 0; i < count; i++)
		lines[order[i]].next = &lines[order[(i + 1) % count]];
	free(order);
}

/*
 * Line i leads to line a i + c modulo a power of two: one cycle, as c is odd and a - 1 a multiple of
 * four (Hull and Dobell, 1962).
 */
static void link_by_congruence(struct line *lines, uint64_t count, uint64_t a, uint64_t c)
{
	for (uint64_t i = 0; i < count; i++)
		lines[i].next = &lines[(a * i + c) & (count - 1)];
}

/* One cycle through all lines, none left out. */
static void link_lines(struct line *lines, uint64_t count, enum chain_order how)
{
	bool power_of_two = !(count & (count - 1));

	if (how == CHAIN_IN_ORDER) {
		for (uint64_t i = 0; i < count; i++)
			lines[i].next = &lines[(i + 1) % count];
	} else if (how == CHAIN_AT_RANDOM && power_of_two && count >= LARGE_BYTES / LINE_BYTES) {
		link_by_congruence(lines, count, 2654435769, 1442695041);
	} else {
		link_by(lines, count, how);
	}
}

static struct line *walk(struct line *at, uint64_t loads)
{
	for (; loads >= 8; loads -= 8)
		at = at->next->next->next->next->next->next->next->next;
	while (loads--)
		at = at->next;
	asm volatile("" : : "r"(at));
	return at;
}

int chain_make(struct work *w, struct chain *c, uint64_t bytes, enum chain_order order)
{
	if (c->bytes == bytes)
		return 0;
	chain_free(c);
	c->lines = ram_get(bytes);
	if (!c->lines)
		return work_fail(w, errno, "no memory for a working set of %llu KiB",
				 (unsigned long long)bytes >> 10);
	c->bytes = bytes;
	link_lines(c->lines, bytes / LINE_BYTES, order);
	/* Once round: what a cache can hold of it, it holds. None holds more than is told. */
	c->at = c->lines;
	if (bytes <= ram_told_bytes(w->machine) || bytes < LARGE_BYTES)
		chain_walk(c, bytes / LINE_BYTES);
	return 0;
}

void chain_free(struct chain *c)
{
	ram_free(c->lines, c->bytes);
	*c = (struct chain){};
}

void chain_walk(void *chain, uint64_t loads)
{
	struct chain *c = chain;

	c->at = walk(c->at, loads);
}

uint64_t chain_loads_since(const struct chain *c, const struct line *from, uint64_t asked)
{
	uint64_t lines = c->bytes / LINE_BYTES, loads = 0;

	for (; from != c->at; from = from->next)
		loads++;
	return loads + (asked > loads ? (asked - loads) / lines * lines : 0);
}

double chain_orderly_share(const struct chain *c)
{
	uint64_t lines = c->bytes / LINE_BYTES, orderly = 0;

	for (uint64_t i = 0; i < lines; i++)
		orderly += c->lines[i].next == &c->lines[(i + 1) % lines];
	return (double)orderly / lines;
}

double chain_fast_share(struct chain *c, double limit_ns)
{
	int fast = 0;

	for (int i = 0; i < STRETCHES; i++) {
		uint64_t from = clock_end();

		chain_walk(c, STRETCH_LOADS);
		fast += clock_ns(clock_end() - from) < limit_ns * STRETCH_LOADS;
	}
	return isnan(limit_ns) ? NAN : (double)fast / STRETCHES;
}
