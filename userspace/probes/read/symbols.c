// SPDX-License-Identifier: GPL-2.0
/* Names kernel addresses from /proc/kallsyms in one pass, keeping only the requested ones. */
#include "userspace/probes/read/symbols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOL_BYTES = 64, READ_BYTES = 1 << 16 };

/* The last symbol that starts at or before an address. */
struct nearest {
	uint64_t address;
	uint64_t start;
	char name[SYMBOL_BYTES];
};

struct symbols {
	int count;
	struct nearest nearest[];	/* by address, ascending */
};

static bool is_bpf(const char *name)
{
	return !strncmp(name, "bpf_prog_", 9) || !strncmp(name, "bpf_trampoline_", 15);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* The first entry whose address is not below @start, or the count. */
static int first_from(const struct symbols *symbols, uint64_t start)
{
	int low = 0, high = symbols->count;

	while (low < high) {
		int middle = (low + high) / 2;

		if (symbols->nearest[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What strtoull() reads from a line's start, in a tenth of its time. */
static uint64_t read_address(const char *line, const char **end)
{
	uint64_t address = 0;

	for (; *line && *line != ' '; line++)
		address = address << 4 | ((*line & 15) + (*line >= 'a' ? 9 : 0));
	*end = line;
	return address;
}

static void copy_name(char to[SYMBOL_BYTES], const char *name)
{
	size_t length = strcspn(name, "\t\n");

	if (length >= SYMBOL_BYTES)
		length = SYMBOL_BYTES - 1;
	memcpy(to, name, length);
	to[length] = '\0';
}

/*
 * Each symbol is noted at the first address it may hold; later ones inherit a nearer start. The file
 * has 200,000 lines, nearly in ascending order: most hold the address that the last one held.
 */
static void read_symbols(struct symbols *symbols, FILE *file)
{
	struct nearest *all = symbols->nearest;
	uint64_t highest = all[symbols->count - 1].address;
	char line[512];
	int at = 0;

	while (fgets_unlocked(line, sizeof(line), file)) {
		const char *name;
		uint64_t start = read_address(line, &name);

		if (!start || start > highest || strlen(name) < 4)
			continue;
		if (all[at].address < start || (at && all[at - 1].address >= start))
			at = first_from(symbols, start);
		if (all[at].start > start)
			continue;
		all[at].start = start;
		copy_name(all[at].name, name + 3);	/* after " T " */
	}
	for (int i = 1; i < symbols->count; i++) {
		struct nearest *n = &all[i];

		if (n->start >= n[-1].start)
			continue;
		n->start = n[-1].start;
		memcpy(n->name, n[-1].name, SYMBOL_BYTES);
	}
}

/* The kernel shows addresses to a process that was allowed to see them when it opened the file. */
static FILE *names;

void symbols_open(void)
{
	if (!names)
		names = fopen("/proc/kallsyms", "re");
	if (names)	/* the kernel hands out a page a call, if asked for as much */
		setvbuf(names, NULL, _IOFBF, READ_BYTES);
}

struct symbols *symbols_load(uint64_t *addresses, int count)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols) + count * sizeof(*symbols->nearest));

	if (!symbols)
		return NULL;
	qsort(addresses, count, sizeof(*addresses), compare);
	for (int i = 0; i < count; i++)
		if (addresses[i] && (!i || addresses[i] != addresses[i - 1]))
			symbols->nearest[symbols->count++].address = addresses[i];
	symbols_open();
	if (symbols->count && names) {
		rewind(names);
		read_symbols(symbols, names);
	}
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols);
}

void symbols_join(const struct symbols *symbols, const uint64_t *frames, int count, char *text,
		  size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; symbols && i < count && frames[i] && used < size; i++) {
		int at = first_from(symbols, frames[i]);
		const char *name = at < symbols->count ? symbols->nearest[at].name : "";

		if (!*name || is_bpf(name))
			continue;
		used += snprintf(text + used, size - used, "%s%s", used ? " < " : "", name);
	}
}
