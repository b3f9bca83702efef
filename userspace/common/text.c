// SPDX-License-Identifier: GPL-2.0
/* Numbers, and text that is folded, as people read them on a terminal. */
#include "userspace/common/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 98, SHORT_BYTES = 16 };

/* Three digits of a @number that is at least 1 of the first unit; each unit is 1000 of the one before. */
static void three_digits(double number, const char *const *units, int count, char *text)
{
	int unit = 0;

	/* What would be printed as 1000 is 1.00 of the next unit. */
	for (; number >= 999.5 && unit < count - 1; unit++)
		number /= 1e3;
	snprintf(text, SHORT_BYTES, "%.*f %s", number < 9.995 ? 2 : number < 99.95 ? 1 : 0, number,
		 units[unit]);
}

void bytes_text(uint64_t bytes, char *text)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };

	if (bytes < 1000)
		snprintf(text, SHORT_BYTES, "%" PRIu64 " B", bytes);
	else
		three_digits(bytes / 1e3, units, 6, text);
}

void rate_text(double bits_per_s, char *text)
{
	static const char *const units[] = { "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };

	if (bits_per_s < 999.5)
		snprintf(text, SHORT_BYTES, "%.0f bit/s", bits_per_s);
	else
		three_digits(bits_per_s / 1e3, units, 4, text);
}

/* Columns that text takes: a character of UTF-8 takes one. */
static int width(const char *text, int bytes)
{
	int columns = 0;

	for (int i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void print_wrapped(FILE *out, const char *first, const char *text, int indent)
{
	int column = width(first, strlen(first)) - (*first == '\n');
	bool at_start = true;

	fputs(first, out);
	while (*text) {
		int len = strcspn(text, " ");

		if (!at_start && column + 1 + width(text, len) > COLUMNS)
			column = fprintf(out, "\n%*s", indent, "") - 1;
		else if (!at_start)
			column += fprintf(out, " ");
		column += width(text, len);
		fprintf(out, "%.*s", len, text);
		at_start = false;
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}
