// SPDX-License-Identifier: GPL-2.0
/* Look-ups in the record of a run. */
#include "userspace/record/record.h"

#include <string.h>

#include "userspace/record/experiment.h"

const char *cost_name(enum cost cost)
{
	static const char *const names[COST_COUNT] = {
#define COST_ROW(name, function) #name,
		COSTS(COST_ROW)
#undef COST_ROW
	};

	return names[cost];
}

/* What only a host that sends by reference must count: pages of others never reach its probes. */
static bool is_of_references(const char *metric)
{
	static const char *const metrics[] = { "tx_reference", "late_copy", "completions",
						 "reshape", "clean", "drops", "taps",
						 "refusals", "optmem" };

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		if (!strcmp(metrics[i], metric))
			return true;
	return false;
}

bool record_probe_attached(const struct record *r, const char *metric)
{
	const struct record *far = record_far(r);
	bool attached = false;

	for (int i = 0; i < r->probe_count; i++)
		attached |= r->probes[i].status == PROBE_ATTACHED &&
			    !strcmp(r->probes[i].metric, metric);
	return attached &&
	       (!far || is_of_references(metric) || record_probe_attached(far, metric));
}

uint64_t record_missed_hits(const struct record *r, const char *metric)
{
	const struct record *far = record_far(r);
	uint64_t missed_hits = far ? record_missed_hits(far, metric) : 0;

	for (int i = 0; i < r->probe_count; i++)
		if (!metric || !strcmp(r->probes[i].metric, metric))
			missed_hits += r->probes[i].missed_hits;
	return missed_hits;
}

bool record_emulated(const struct record *r)
{
	return r->machine.emulated || (record_far(r) && record_emulated(record_far(r)));
}

/* Each notification ends once. If as many ended as there were, no end was missed. */
static bool all_completed(const struct record *r)
{
	const unsigned long long *count = r->derived.total.count;

	return count[COUNT_completed_sends] == count[COUNT_zerocopy_sends] &&
	       count[COUNT_released_pages] == count[COUNT_pinned_pages];
}

uint64_t record_missed(const struct record *r)
{
	const struct record *far = record_far(r);
	uint64_t missed = far ? record_missed(far) : 0;

	for (int i = 0; i < r->probe_count; i++)
		if (!probe_is_of_states(&r->probes[i]) &&
		    (strcmp(r->probes[i].metric, "completions") || !all_completed(r)))
			missed += r->probes[i].missed_runs;
	return missed;
}

bool record_probe_whole(const struct record *r, const char *metric)
{
	return record_probe_attached(r, metric) && !record_missed_hits(r, metric);
}

bool record_wire_known(const struct record *r)
{
	return record_probe_whole(r, "tx_copy");
}

struct overhead record_overhead(const struct record *r)
{
	return overhead_of(&r->measured, r->stats_known);
}

void record_free(struct record *r)
{
	experiment_free(r->experiment);
	ledger_free(&r->ledger);
	ledger_free(&r->derived);
	*r = (struct record){};
}
