// SPDX-License-Identifier: GPL-2.0
/* Why bytes were copied after all, as far as tracepoints tell. */
#include <stddef.h>

#include "userspace/tables/causes.h"
#include "userspace/watch/judge/watch_judge.h"

static const struct {
	const char *name, *remedy;
} table[] = {
#define CAUSE_ROW(symbol, name, place, remedy) { name, remedy },
	CAUSES(CAUSE_ROW)
#undef CAUSE_ROW
};

static void add(struct watch_record *r, enum known which, enum site site, uint64_t bytes,
		uint64_t calls, const char *why)
{
	r->causes[r->cause_count++] = (struct cause){
		.name = table[which].name, .remedy = table[which].remedy, .site = site,
		.tally = { bytes, calls }, .bytes_known = bytes, .why = why,
	};
}

void watch_causes_fill(struct watch_record *r)
{
	const struct watch_movements *m = &r->total.moved;

	if (m->site_bytes[SITE_late_copy])
		add(r, CAUSE_DELIVERY_OR_TAP, SITE_late_copy, m->site_bytes[SITE_late_copy], 0,
		    "tracepoints do not tell who copied");
	if (m->count[COUNT_enobufs])
		add(r, CAUSE_NO_BUFFERS, SITE_tx_reference, 0, m->count[COUNT_enobufs],
		    "tracepoints do not tell which limit refused");
}
