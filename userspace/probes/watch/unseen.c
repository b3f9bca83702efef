// SPDX-License-Identifier: GPL-2.0
/* Compares how often sockets began, ended and reported with how often the programs ran. */
#include "userspace/probes/watch/unseen.h"

#include <string.h>

static const struct {
	const char *event, *program;
} checked[WATCH_CHECKED] = {
	{ "sock/inet_sock_set_state", "watch_state" },
	{ "tcp/tcp_destroy_sock", "watch_death" },
	{ "sock/inet_sk_error_report", "watch_completion" },
};

static uint64_t seen_by(const void *arg, int i)
{
	const struct watch_probes *p = arg;
	struct watch_gauges *gauges = &p->skel->bss->watch_gauges;
	unsigned long long *const seen[WATCH_CHECKED] = { &gauges->states, &gauges->ends, &gauges->reports };

	return __atomic_load_n(seen[i], __ATOMIC_SEQ_CST);
}

void unseen_open(struct watch_probes *p)
{
	const char *events[WATCH_CHECKED];

	for (int i = 0; i < WATCH_CHECKED; i++)
		events[i] = checked[i].event;
	p->hits = tp_hits_open(events, WATCH_CHECKED);
	if (p->hits)
		tp_hits_start(p->hits);
}

void unseen_begin(struct watch_probes *p)
{
	for (int i = 0; p->hits && i < WATCH_CHECKED; i++)
		p->ahead[i] = tp_hits_ahead(p->hits, i, seen_by, p);
}

static struct probe *probe_of(const struct watch_probes *p, struct probe *probes, const char *program)
{
	for (int i = 0; i < p->probe_count; i++)
		if (!strcmp(watch_hooks[i].program, program))
			return &probes[i];
	return NULL;
}

void unseen_note(const struct watch_probes *p, struct probe *probes)
{
	for (int i = 0; p->hits && i < WATCH_CHECKED; i++) {
		int64_t missed = tp_hits_ahead(p->hits, i, seen_by, p) - p->ahead[i];
		struct probe *probe = probe_of(p, probes, checked[i].program);

		probe->perf_checked = true;
		probe->missed_hits = missed > 0 ? missed : 0;
	}
}
