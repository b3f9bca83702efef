// SPDX-License-Identifier: GPL-2.0
/* Why bytes were copied after all, as far as the backend tells. */
#include <stddef.h>

#include "userspace/judge/causes/causes.h"
#include "userspace/tables/causes.h"
#include "userspace/watch/judge/watch_judge.h"

static const struct {
	const char *name, *remedy;
} table[] = {
#define CAUSE_ROW(symbol, name, place, remedy) { name, remedy },
	CAUSES(CAUSE_ROW)
#undef CAUSE_ROW
};

struct causes {
	struct cause *cause;
	int count;
};

static void add(struct causes *all, enum known which, enum site site, uint64_t bytes, uint64_t calls,
		const char *why)
{
	all->cause[all->count++] = (struct cause){
		.name = table[which].name, .remedy = table[which].remedy, .site = site,
		.tally = { bytes, calls }, .bytes_known = bytes, .why = why,
	};
}

static void late_add(struct causes *all, enum known which, uint64_t bytes)
{
	if (bytes)
		add(all, which, SITE_late_copy, bytes, 0, NULL);
}

static void refusal_add(struct causes *all, enum known which, uint64_t sends)
{
	if (sends)
		add(all, which, SITE_tx_reference, 0, sends, "a refused send has no bytes");
}

int watch_causes_of(const struct watch_movements *m, struct cause causes[WATCH_CAUSES_MAX])
{
	struct causes all = { .cause = causes };
	uint64_t either;

	late_add(&all, CAUSE_LOCAL_DELIVERY, m->late_by_delivery_bytes);
	late_add(&all, CAUSE_TAP_TX, m->late_by_tap_bytes);
	late_add(&all, CAUSE_TUN, m->late_by_tun_bytes);
	late_add(&all, CAUSE_WAY_OUT, m->late_on_way_out_bytes);
	late_add(&all, CAUSE_ARRIVED, m->site_bytes[SITE_late_copy] - m->late_by_delivery_bytes -
		 m->late_by_tap_bytes - m->late_by_tun_bytes - m->late_on_way_out_bytes);
	if (m->counts_known & 1ull << COUNT_refused_optmem) {
		refusal_add(&all, CAUSE_OPTMEM, m->count[COUNT_refused_optmem]);
		refusal_add(&all, CAUSE_MEMLOCK, m->count[COUNT_refused_memlock]);
		either = m->count[COUNT_enobufs] - m->count[COUNT_refused_optmem] -
			 m->count[COUNT_refused_memlock];
		if (either)
			add(&all, CAUSE_NO_BUFFERS, SITE_tx_reference, 0, either,
			    "a refused send has no bytes, and both limits were reached");
	} else if (m->count[COUNT_enobufs])
		add(&all, CAUSE_NO_BUFFERS, SITE_tx_reference, 0, m->count[COUNT_enobufs],
		    "a refused send has no bytes, and tracepoints do not tell which limit refused");
	return all.count;
}

void watch_causes_fill(struct watch_record *r, const struct copy_stack *stacks, int count)
{
	struct cause_list list = { r->causes, 0 };
	struct cause of_counts[WATCH_CAUSES_MAX];
	int known = watch_causes_of(&r->total.moved, of_counts);

	causes_of_stacks(&list, stacks, count, SITE_late_copy);
	causes_of_stacks(&list, stacks, count, SITE_reshape);
	causes_sort(&list);
	for (int i = 0; i < known; i++)
		if (!count || !of_counts[i].bytes_known)
			r->causes[list.count++] = of_counts[i];
	r->cause_count = list.count;
}
