// SPDX-License-Identifier: GPL-2.0
/* Say in one line on stderr what went wrong and what to do. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/workload/common/fail.h"

static char first[512];
static atomic_flag is_taken = ATOMIC_FLAG_INIT;

static void complain_va(const char *fmt, va_list args)
{
	char line[sizeof(first)];

	vsnprintf(line, sizeof(line), fmt, args);
	/* One call, so that lines of different threads never mix. */
	fprintf(stderr, "workload: %s\n", line);
	if (!atomic_flag_test_and_set(&is_taken))
		memcpy(first, line, sizeof(first));
}

const char *first_complaint(void)
{
	return *first ? first : NULL;
}

void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain_va(fmt, args);
	va_end(args);
}

void usage_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain_va(fmt, args);
	va_end(args);
	exit(EXIT_BAD_USAGE);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain_va(fmt, args);
	va_end(args);
	exit(EXIT_RUN_FAILED);
}
