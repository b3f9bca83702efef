// SPDX-License-Identifier: GPL-2.0
/* Numbers out of text, strictly: what is not wholly a number in its range is none. */
#include "userspace/common/numbers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Of "64k", "64K", "64KB" and "64KiB" each is 65,536, as reports print KiB; 0 for what is none. */
static uint64_t suffix_factor(const char *suffix)
{
	uint64_t factor = *suffix == 'k' || *suffix == 'K' ? 1024 :
			  *suffix == 'm' || *suffix == 'M' ? 1024 * 1024 : 0;

	if (!*suffix)
		return 1;
	return !suffix[1] || !strcasecmp(suffix + 1, "B") || !strcasecmp(suffix + 1, "iB") ? factor : 0;
}

int whole_parse(const char *text, enum number_suffix suffix, uint64_t min, uint64_t max,
		uint64_t *number)
{
	unsigned long long digits;
	uint64_t factor;
	char *end;

	errno = 0;
	digits = strtoull(text, &end, 10);
	factor = suffix == NUMBER_WITH_SUFFIX || !*end ? suffix_factor(end) : 0;
	/* strtoull() takes signs and blanks; a number here starts with a digit. */
	if (!is_digit(*text) || !factor)
		return -EINVAL;
	if (errno || __builtin_mul_overflow(digits, factor, number) || *number < min || *number > max)
		return -ERANGE;
	return 0;
}

int decimal_parse(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	/* strtod() also takes signs, blanks, "inf", "nan" and hexadecimal. */
	if ((!is_digit(*text) && *text != '.') || *end || strpbrk(text, "xX"))
		return -EINVAL;
	return 0;
}

uint64_t number_in_file(const char *path, uint64_t otherwise)
{
	FILE *file = fopen(path, "re");
	char text[32] = "";
	uint64_t number;

	if (!file)
		return otherwise;
	if (fgets(text, sizeof(text), file))
		text[strcspn(text, " \n")] = '\0';
	fclose(file);
	return whole_parse(text, NUMBER_PLAIN, 0, UINT64_MAX, &number) ? otherwise : number;
}
