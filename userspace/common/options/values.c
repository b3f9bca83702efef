// SPDX-License-Identifier: GPL-2.0
/* Reads the values of options, strictly: numbers, seconds, one of several names. */
#include "userspace/common/options/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/foreign.h"
#include "userspace/common/numbers.h"

static const char *program = "copyscope";

void options_of(const char *name)
{
	program = name;
}

void options_fail(const char *format, const char *what)
{
	fprintf(stderr, "%s: ", program);
	fprintf(stderr, format, foreign(what));
	fprintf(stderr, "; see %s --help\n", program);
	exit(2);
}

static uint64_t whole(const char *value, enum number_suffix suffix, uint64_t min, uint64_t max,
		      const char *what)
{
	char message[200];
	uint64_t number;

	if (whole_parse(value, suffix, min, max, &number)) {
		snprintf(message, sizeof(message),
			 "%s '%%s' must be a whole number from %llu to %llu%s", what,
			 (unsigned long long)min, (unsigned long long)max,
			 suffix == NUMBER_WITH_SUFFIX ? ", where k is 1024 and M is 1048576, as in 64k" : "");
		options_fail(message, value);
	}
	return number;
}

uint64_t options_whole(const char *value, uint64_t min, uint64_t max, const char *what)
{
	return whole(value, NUMBER_WITH_SUFFIX, min, max, what);
}

uint64_t options_plain(const char *value, uint64_t min, uint64_t max, const char *what)
{
	return whole(value, NUMBER_PLAIN, min, max, what);
}

double options_seconds(const char *value, int max, const char *what)
{
	char message[96];
	double seconds;

	if (decimal_parse(value, &seconds) || !(seconds > 0 && seconds <= max)) {
		snprintf(message, sizeof(message), "%s '%%s' must be a number above 0 and up to %d",
			 what, max);
		options_fail(message, value);
	}
	return seconds;
}

const char *options_file(const char *value, const char *option)
{
	if (!*value)
		options_fail("%s names no file", option);
	return value;
}

int options_one_of(const char *const *names, const char *value, const char *format)
{
	char message[300];
	size_t used;

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], value))
			return i;
	used = snprintf(message, sizeof(message), "%s; it must be one of", format);
	for (const char *const *name = names; *name; name++)
		used += snprintf(message + used, sizeof(message) - used, " %s", *name);
	options_fail(message, value);
}
