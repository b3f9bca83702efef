// SPDX-License-Identifier: GPL-2.0
/* Names of the record's enums, and look-ups in a record. */
#include "userspace/record/record.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "userspace/common/system/process_numbers.h"
#include "userspace/record/experiment.h"

static const struct {
	const char *name;
	unsigned int traits;
	const char *meaning;
} site_table[SITE_COUNT] = {
#define SITE_ROW(name, traits, who, meaning) { #name, traits, meaning },
	SITES(SITE_ROW)
#undef SITE_ROW
};

static const char *const count_names[COUNT_COUNT] = {
#define COUNT_ROW(name, meaning) #name,
	COUNTS(COUNT_ROW)
#undef COUNT_ROW
};

const char *site_name(enum site site)
{
	return site_table[site].name;
}

const char *site_meaning(enum site site)
{
	return site_table[site].meaning;
}

bool site_has(enum site site, unsigned int traits)
{
	return (site_table[site].traits & traits) == traits;
}

bool site_calls_known(enum site site, enum how how)
{
	return how == HOW_MEASURED || (how == HOW_DERIVED && !site_has(site, SITE_READS));
}

const char *protocol_name(bool datagrams)
{
	return datagrams ? "udp" : "tcp";
}

const char *count_name(enum count count)
{
	return count_names[count];
}

const char *cost_name(enum cost cost)
{
	static const char *const names[COST_COUNT] = {
#define COST_ROW(name, function) #name,
		COSTS(COST_ROW)
#undef COST_ROW
	};

	return names[cost];
}

const char *how_name(enum how how)
{
	static const char *const names[] = { "not_measured", "measured", "derived" };

	return names[how];
}

const char *backend_name(enum backend backend)
{
	static const char *const names[] = { "auto", "trampoline", "tracepoint", "none" };

	return names[backend];
}

const char *law_status_name(enum law_status status)
{
	static const char *const names[] = { "balanced", "broken", "not testable" };

	return names[status];
}

const char *probe_status_name(int status)
{
	static const char *const names[] = { "absent", "refused", "attached" };

	return names[status];
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

bool probe_is_of_states(const struct probe *p)
{
	return !strcmp(p->metric, "sequence");
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

struct overhead overhead_of(const struct probe *probes, int count, uint64_t window_ns, int cpus)
{
	struct overhead o = {};
	uint64_t time_ns = 0;

	for (int i = 0; i < count; i++) {
		o.events += probes[i].runs;
		time_ns += probes[i].run_time_ns;
	}
	o.known = o.events && time_ns && window_ns;
	if (o.known) {
		o.ns_per_event = (double)time_ns / o.events;
		o.share = time_ns / ((double)window_ns * cpus);
	}
	return o;
}

struct overhead record_overhead(const struct record *r)
{
	return overhead_of(r->probes, r->probe_count, r->stats_known ? r->window_ns : 0, r->machine.cpus);
}

void record_name(struct record *r)
{
	struct timespec t;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &utc);
	strftime(r->started, sizeof(r->started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	strftime(r->id, sizeof(r->id), "%Y%m%dT%H%M%S", &utc);
	snprintf(r->id + strlen(r->id), sizeof(r->id) - strlen(r->id), ".%03ld-%u",
		 t.tv_nsec / 1000000, run_number());
}

void record_free(struct record *r)
{
	experiment_free(r->experiment);
	ledger_free(&r->ledger);
	ledger_free(&r->derived);
	*r = (struct record){};
}
