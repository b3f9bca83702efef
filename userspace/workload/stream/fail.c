// SPDX-License-Identifier: GPL-2.0
/* Say in one line on stderr what went wrong and what to do. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/process.h"

static struct complaint {
	char line[512];
	atomic_flag is_taken;
} own = { .is_taken = ATOMIC_FLAG_INIT }, *first = &own;

static void complain_va(const char *fmt, va_list args)
{
	char line[sizeof(first->line)];

	vsnprintf(line, sizeof(line), fmt, args);
	/* One call, so that lines of different threads never mix. */
	fprintf(stderr, "workload: %s\n", line);
	if (!atomic_flag_test_and_set(&first->is_taken))
		memcpy(first->line, line, sizeof(line));
}

const char *first_complaint(void)
{
	return *first->line ? first->line : NULL;
}

int complaints_share(void)
{
	struct complaint *shared = shared_alloc(sizeof(*shared));

	if (!shared)
		return -ENOMEM;
	*shared = own;
	first = shared;
	return 0;
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
