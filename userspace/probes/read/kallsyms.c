// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/kallsyms in passes that keep only what is requested. */
#include "userspace/probes/read/kallsyms.h"

#include <stdio.h>
#include <string.h>

#include "userspace/common/symbols/symbol_lines.h"

static FILE *file;

void kallsyms_open(void)
{
	if (file)
		rewind(file);
	else
		file = symbol_lines_open();
}

/* The first symbol whose address is not below @start, or @count. */
static int first_from(const struct symbol *symbols, int count, uint64_t start)
{
	int low = 0, high = count;

	while (low < high) {
		int middle = (low + high) / 2;

		if (symbols[middle].address < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void copy_name(char to[SYMBOL_BYTES], const char *name)
{
	size_t length = strcspn(name, "\t\n");

	if (length >= SYMBOL_BYTES)
		length = SYMBOL_BYTES - 1;
	memcpy(to, name, length);
	to[length] = '\0';
}

static uint64_t next_line(char line[SYMBOL_LINE_BYTES], const char **name)
{
	return file ? symbol_lines_next(file, line, name) : 0;
}

/*
 * Each symbol is noted at the first address it may hold; later ones inherit a nearer start. The file
 * has 200,000 lines, nearly in ascending order: most hold the address that the last one held.
 */
void kallsyms_name(struct symbol *symbols, int count)
{
	char line[SYMBOL_LINE_BYTES];
	const char *name;
	uint64_t start;
	int at = 0;

	kallsyms_open();
	while (count && (start = next_line(line, &name))) {
		if (start > symbols[count - 1].address)
			continue;
		if (symbols[at].address < start || (at && symbols[at - 1].address >= start))
			at = first_from(symbols, count, start);
		if (symbols[at].start > start)
			continue;
		symbols[at].start = start;
		copy_name(symbols[at].name, name);
	}
	for (int i = 1; i < count; i++) {
		if (symbols[i].start >= symbols[i - 1].start)
			continue;
		symbols[i].start = symbols[i - 1].start;
		memcpy(symbols[i].name, symbols[i - 1].name, SYMBOL_BYTES);
	}
}

uint64_t kallsyms_find(const char *wanted)
{
	size_t length = strlen(wanted);
	char line[SYMBOL_LINE_BYTES];
	const char *name;
	uint64_t start;

	kallsyms_open();
	while ((start = next_line(line, &name)))
		if (!strncmp(name, wanted, length) && name[length] == '\n')
			break;
	return start;
}
