// SPDX-License-Identifier: GPL-2.0
/* Makes a record from one host's half alone: what needs both halves is not measured. */
#include "userspace/peer/alone.h"

#include <stdio.h>
#include <string.h>

#include "userspace/record/experiment.h"

/* If bytes go one way only, one host alone counts where they enter, and the other where they
 * leave. */
static bool is_of_end(const struct record *r, enum site site, enum end end)
{
	if (!strcmp(r->experiment->plan.pattern, "rr"))
		return false;
	return site_has(site, end == END_SENDER ? SITE_OF_SENDER : SITE_OF_RECEIVER);
}

void half_alone(struct record *r, enum end here, const char *why)
{
	const char *there = here == END_SENDER ? "receiver" : "sender";
	struct experiment *x = r->experiment;
	struct pins *p = &r->pins;

	x->ends.alone = true;
	x->ends.alone_at = here;
	snprintf(x->ends.alone_why, WHY_BYTES, "%s", why);
	for (int i = 0; i < r->derived.socket_count; i++)
		r->derived.sockets[i].host = here;
	for (enum site s = 0; s < SITE_COUNT; s++) {
		if (is_of_end(r, s, here))
			continue;
		r->sites[s].how = HOW_NOT_MEASURED;
		snprintf(r->sites[s].why, WHY_BYTES, "on the %s's host: %s", there, why);
	}
	/* Without the sites there are no causes. */
	r->derived.stack_count = 0;
	if (!is_of_end(r, SITE_tx_reference, here)) {
		p->how = p->released_how = p->peak_how = HOW_NOT_MEASURED;
		snprintf(p->why, WHY_BYTES, "on the %s's host: %s", there, why);
	}
	for (int i = 0; i < COUNTER_COUNT; i++)
		snprintf(x->counters[END_COUNT - 1 - here][i].why, COUNTER_WHY_BYTES, "%s", why);
}
