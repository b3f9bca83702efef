// SPDX-License-Identifier: GPL-2.0
/* Names of what each record has, its own name, and what the programs took of the window. */
#include "userspace/record/measured.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "userspace/common/system/process_numbers.h"

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

bool probe_is_of_states(const struct probe *p)
{
	return !strcmp(p->metric, "sequence");
}

struct overhead overhead_of(const struct measured *m, bool timed)
{
	struct overhead o = {};
	uint64_t time_ns = 0;

	for (int i = 0; i < m->probe_count; i++) {
		o.events += m->probes[i].runs;
		time_ns += m->probes[i].run_time_ns;
	}
	o.known = timed && o.events && time_ns && m->window_ns;
	if (o.known) {
		o.ns_per_event = (double)time_ns / o.events;
		o.share = time_ns / ((double)m->window_ns * m->machine.cpus);
	}
	return o;
}

void measured_name(struct measured *m)
{
	struct timespec t;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &utc);
	strftime(m->started, sizeof(m->started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	strftime(m->id, sizeof(m->id), "%Y%m%dT%H%M%S", &utc);
	snprintf(m->id + strlen(m->id), sizeof(m->id) - strlen(m->id), ".%03ld-%u",
		 t.tv_nsec / 1000000, run_number());
}
