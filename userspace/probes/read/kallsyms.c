// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/kallsyms in passes that keep only what is requested. */
#include "userspace/probes/read/kallsyms.h"

#include <stdio.h>
#include <string.h>

enum { READ_BYTES = 1 << 16, LINE_BYTES = 512 };

/* The kernel shows addresses to a process that was allowed to see them when it opened the file. */
static FILE *file;

void kallsyms_open(void)
{
	if (file) {
		rewind(file);
		return;
	}
	file = fopen("/proc/kallsyms", "re");
	if (file)	/* the kernel hands out a page a call, if asked for as much */
		setvbuf(file, NULL, _IOFBF, READ_BYTES);
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

/* The next line that shows an address: where its symbol starts, and its name in @line. */
static uint64_t next_line(char line[LINE_BYTES], const char **name)
{
	while (file && fgets_unlocked(line, LINE_BYTES, file)) {
		uint64_t start = read_address(line, name);

		if (!start || strlen(*name) < 4)
			continue;
		*name += 3;	/* after " T " */
		return start;
	}
	return 0;
}

/*
 * Each symbol is noted at the first address it may hold; later ones inherit a nearer start. The file
 * has 200,000 lines, nearly in ascending order: most hold the address that the last one held.
 */
void kallsyms_name(struct symbol *symbols, int count)
{
	char line[LINE_BYTES];
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
	char line[LINE_BYTES];
	const char *name;
	uint64_t start;

	kallsyms_open();
	while ((start = next_line(line, &name)))
		if (!strncmp(name, wanted, length) && name[length] == '\n')
			break;
	return start;
}
