// SPDX-License-Identifier: GPL-2.0
/* Reads lines of /proc/kallsyms. */
#include "userspace/common/symbols/symbol_lines.h"

#include <string.h>

enum { READ_BYTES = 1 << 16 };

FILE *symbol_lines_open(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");

	if (file)	/* the kernel hands out a page a call, if asked for as much */
		setvbuf(file, NULL, _IOFBF, READ_BYTES);
	return file;
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

uint64_t symbol_lines_next(FILE *file, char line[SYMBOL_LINE_BYTES], const char **name)
{
	while (fgets_unlocked(line, SYMBOL_LINE_BYTES, file)) {
		uint64_t start = read_address(line, name);

		if (!start || strlen(*name) < 4)
			continue;
		*name += 3;	/* after " T " */
		return start;
	}
	return 0;
}
