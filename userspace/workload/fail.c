// SPDX-License-Identifier: GPL-2.0
/* Say in one line on stderr what went wrong and what to do. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"

static void complain_va(const char *fmt, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), fmt, args);
	/* One call, so that lines of different threads never mix. */
	fprintf(stderr, "workload: %s\n", line);
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
