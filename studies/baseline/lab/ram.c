// SPDX-License-Identifier: GPL-2.0
/* Maps, touches and describes working sets. */
#include "studies/baseline/lab/ram.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>


enum { HUGE_BYTES = 2 << 20, SMALLEST_LARGE = 64 << 20 };

void *ram_get(uint64_t bytes)
{
	uint64_t room = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES + HUGE_BYTES;
	char *all = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at;

	if (all == MAP_FAILED)
		return NULL;
	at = (char *)(((uintptr_t)all + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
	if (at > all)
		munmap(all, at - all);
	munmap(at + room - HUGE_BYTES, all + HUGE_BYTES - at);
	madvise(at, room - HUGE_BYTES, MADV_HUGEPAGE);
	memset(at, 1, room - HUGE_BYTES);
	return at;
}

void ram_free(void *at, uint64_t bytes)
{
	if (at)
		munmap(at, (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
}

struct arrays *arrays_new(uint64_t bytes)
{
	struct arrays *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->bytes = bytes;
	a->from = ram_get(bytes);
	a->to = ram_get(bytes);
	if (!a->from || !a->to) {
		arrays_free(a);
		errno = ENOMEM;
		return NULL;
	}
	memset(a->to, 0, bytes);
	for (uint64_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)a->from)[i] = 1;
	return a;
}

void arrays_free(struct arrays *a)
{
	if (!a)
		return;
	ram_free(a->from, a->bytes);
	ram_free(a->to, a->bytes);
	free(a);
}

uint64_t arrays_written(const struct arrays *a)
{
	uint64_t words = 0;

	for (uint64_t i = 0; i < a->bytes / sizeof(uint64_t); i++)
		words += ((const uint64_t *)a->to)[i] != 0;
	return words * sizeof(uint64_t);
}

/* Of the mapping that holds @at, what a line of smaps says. */
static double smaps_bytes(const void *at, const char *format)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long from, to, kib, found = 0;
	bool inside = false;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from <= (uintptr_t)at && (uintptr_t)at < to;
		else if (inside && sscanf(line, format, &kib) == 1)
			found = kib;
	}
	if (file)
		fclose(file);
	return found * 1024.0;
}

double ram_huge_bytes(const void *at)
{
	return smaps_bytes(at, "AnonHugePages: %lu kB");
}

double ram_mapped_bytes(const void *at)
{
	return smaps_bytes(at, "Rss: %lu kB");
}

uint64_t ram_told_bytes(const struct machine_info *m)
{
	return m->l3_bytes > m->l2_bytes ? m->l3_bytes : m->l2_bytes;
}

/* What the last cache holds of ours: its share of what the kernel tells, if the curve showed it. */
static uint64_t last_cache_bytes(const struct machine_info *m)
{
	uint64_t found = levels_last_bytes(&m->levels);

	return found && m->levels.of[LEVEL_MEMORY].ns ? found : ram_told_bytes(m);
}

uint64_t ram_large_bytes(const struct machine_info *m)
{
	uint64_t last = last_cache_bytes(m), bytes = SMALLEST_LARGE;

	while (bytes < 4 * last)
		bytes *= 2;
	while (bytes > m->available_bytes / 4)
		bytes /= 2;
	return bytes >= SMALLEST_LARGE && bytes > 2 * last ? bytes : 0;
}

uint64_t ram_curve_bytes(const struct machine_info *m)
{
	uint64_t bytes = SMALLEST_LARGE, told = ram_told_bytes(m);

	while (bytes < 2 * told)
		bytes *= 2;
	while (bytes > m->available_bytes / 4)
		bytes /= 2;
	return bytes;
}
