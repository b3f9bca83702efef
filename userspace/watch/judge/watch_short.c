// SPDX-License-Identifier: GPL-2.0
/* Whether the sums of a record can be relied on: laws that are broken, and what they may lack. */
#include <stdio.h>
#include <string.h>

#include "userspace/watch/judge/watch_judge.h"

int watch_laws_broken(const struct watch_record *r)
{
	int broken = 0;

	for (int i = 0; i < WATCH_LAW_COUNT; i++)
		broken += r->laws[i].status == LAW_BROKEN;
	return broken;
}

static void reason(char why[WHY_BYTES], uint64_t n, const char *what)
{
	size_t at = strlen(why);

	if (n)
		snprintf(why + at, WHY_BYTES - at, "%s%llu %s", at ? "; " : "", (unsigned long long)n, what);
}

bool watch_sums_short(const struct watch_record *r, char why[WHY_BYTES])
{
	const struct law *probes = &r->laws[WATCH_LAW_probes];

	*why = '\0';
	reason(why, r->lost_events, "sockets or processes found no room");
	reason(why, r->unbooked_sockets, "sockets were not counted");
	reason(why, r->unopened_sockets, "sockets lay in network namespaces that were not entered");
	reason(why, r->unseen_events, "ends or changes of sockets of this machine were not seen");
	if (!*why && probes->status != LAW_BALANCED)
		snprintf(why, WHY_BYTES, "%s", *probes->why ? probes->why : "events may have been missed");
	return *why;
}
