// SPDX-License-Identifier: GPL-2.0
/* Strict numbers for the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/foreign.h"

#include "userspace/workload/common/clock.h"
#include "userspace/workload/common/fail.h"
#include "userspace/workload/common/numbers.h"

#define SECONDS_MAX 1e6

static uint64_t suffix_factor(const char *suffix)
{
	if (!strcmp(suffix, ""))
		return 1;
	if (!strcmp(suffix, "k") || !strcmp(suffix, "K"))
		return 1024;
	if (!strcmp(suffix, "M"))
		return 1024 * 1024;
	return 0;
}

uint64_t number_parse(const char *what, const char *text, enum number_suffix suffix,
		      uint64_t min, uint64_t max)
{
	unsigned long long number;
	uint64_t factor, result;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	factor = suffix == NUMBER_WITH_SUFFIX || !*end ? suffix_factor(end) : 0;
	/* strtoull() takes signs and blanks; a number here starts with a digit. */
	if (text[0] < '0' || text[0] > '9' || !factor)
		usage_error("%s: '%s' is not a whole number: give one from %llu to %llu%s", what,
			    foreign(text), (unsigned long long)min, (unsigned long long)max,
			    suffix == NUMBER_WITH_SUFFIX ? " (k and M may follow)" : "");
	if (errno || __builtin_mul_overflow(number, factor, &result) || result < min ||
	    result > max)
		usage_error("%s: %s is out of range: give a number from %llu to %llu", what,
			    foreign(text), (unsigned long long)min, (unsigned long long)max);
	return result;
}

uint64_t number_parse_seconds_ns(const char *what, const char *text)
{
	char *end;
	double seconds;

	/* strtod() also takes signs, "inf", "nan", exponents and hexadecimal. */
	seconds = strtod(text, &end);
	if (!*text || strspn(text, "0123456789.") != strlen(text) || *end)
		usage_error("%s: '%s' is not a number of seconds: give one like 2 or 0.5", what,
			    foreign(text));
	if (seconds * NS_PER_S < 1 || seconds > SECONDS_MAX)
		usage_error("%s: %s is out of range: give more than 0 and at most %.0f", what,
			    foreign(text), SECONDS_MAX);
	return seconds * NS_PER_S;
}
