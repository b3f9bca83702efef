// SPDX-License-Identifier: GPL-2.0
/* Begins a pass, and says why one failed. */
#include "studies/baseline/bench/work.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void work_init(struct work *w, const struct protocol *protocol, const struct machine_info *machine)
{
	*w = (struct work){
		.protocol = protocol, .machine = machine, .value = NAN, .trimmed = NAN,
	};
	for (int i = 0; i < WITNESS_COUNT; i++)
		w->witness[i] = NAN;
}

int work_fail(struct work *w, int err, const char *format, ...)
{
	va_list args;
	size_t used;

	va_start(args, format);
	used = vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
	if (err && used < sizeof(w->why))
		snprintf(w->why + used, sizeof(w->why) - used, ": %s", strerror(err));
	return err ? -err : -EINVAL;
}
