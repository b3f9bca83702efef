// SPDX-License-Identifier: GPL-2.0
/* Bounds how fast strangers fill the log of a host that listens. */
#include "userspace/peer/handshake/refusals.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* So many lines at once, then one a second. */
enum { BURST = 4, LINE_MS = 1000 };

/* Each line uses up one second of the future, and no more than a burst may be used up ahead. */
static int due_ms(const struct refusals *r, int64_t now_ms)
{
	int64_t ahead_ms = r->full_ms - now_ms - (BURST - 1) * LINE_MS;

	return ahead_ms > 0 ? ahead_ms : 0;
}

static void spend(struct refusals *r, int64_t now_ms)
{
	r->full_ms = (r->full_ms > now_ms ? r->full_ms : now_ms) + LINE_MS;
}

void refusals_tell(struct refusals *r, int64_t now_ms, const char *name, const char *why)
{
	if (r->untold || due_ms(r, now_ms)) {
		r->untold++;
		refusals_flush(r, now_ms);
		return;
	}
	spend(r, now_ms);
	fprintf(stderr, "trace_run: refused %s: %s; still waiting\n", name, why);
}

int refusals_flush(struct refusals *r, int64_t now_ms)
{
	if (!r->untold)
		return -1;
	if (due_ms(r, now_ms))
		return due_ms(r, now_ms);
	fprintf(stderr, "trace_run: refused %" PRIu64 " more; still waiting\n", r->untold);
	r->untold = 0;
	spend(r, now_ms);
	return -1;
}
