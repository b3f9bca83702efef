// SPDX-License-Identifier: GPL-2.0
/* Numbers of the command line: a bad one ends the program. */
#include "userspace/workload/common/number_args.h"

#include <errno.h>

#include "userspace/common/clock.h"
#include "userspace/common/foreign.h"
#include "userspace/workload/common/fail.h"

#define SECONDS_MAX 1e6

uint64_t number_parse(const char *what, const char *text, enum number_suffix suffix,
		      uint64_t min, uint64_t max)
{
	uint64_t number;
	int err = whole_parse(text, suffix, min, max, &number);

	if (err == -EINVAL)
		usage_error("%s: '%s' is not a whole number: give one from %llu to %llu%s", what,
			    foreign(text), (unsigned long long)min, (unsigned long long)max,
			    suffix == NUMBER_WITH_SUFFIX ? " (k and M may follow)" : "");
	if (err)
		usage_error("%s: %s is out of range: give a number from %llu to %llu", what,
			    foreign(text), (unsigned long long)min, (unsigned long long)max);
	return number;
}

uint64_t number_parse_seconds_ns(const char *what, const char *text)
{
	double seconds;

	if (decimal_parse(text, &seconds))
		usage_error("%s: '%s' is not a number of seconds: give one like 2 or 0.5", what,
			    foreign(text));
	if (seconds * NS_PER_S < 1 || seconds > SECONDS_MAX)
		usage_error("%s: %s is out of range: give more than 0 and at most %.0f", what,
			    foreign(text), SECONDS_MAX);
	return seconds * NS_PER_S;
}
