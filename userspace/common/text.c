// SPDX-License-Identifier: GPL-2.0
/* Numbers and sentences as people read them on a terminal. */
#include "userspace/common/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 98 };

void number_text(int64_t number, char *text)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64,
			   number < 0 ? -(uint64_t)number : (uint64_t)number);
	char *to = text;

	if (number < 0)
		*to++ = '-';
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
}

void print_wrapped(FILE *out, const char *first, const char *text, int indent)
{
	int column = fprintf(out, "%s", first) - (*first == '\n');
	bool at_start = true;

	while (*text) {
		int len = strcspn(text, " ");

		if (!at_start && column + 1 + len > COLUMNS)
			column = fprintf(out, "\n%*s", indent, "") - 1;
		else if (!at_start)
			column += fprintf(out, " ");
		column += fprintf(out, "%.*s", len, text);
		at_start = false;
		text += len + (text[len] == ' ');
	}
	fputc('\n', out);
}
