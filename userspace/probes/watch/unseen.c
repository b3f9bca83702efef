// SPDX-License-Identifier: GPL-2.0
/* Compares how often tracepoints were hit with how often the programs ran. */
#include "userspace/probes/watch/unseen.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *event, *program;
	size_t seen;	/* where the program counts itself */
} checked[WATCH_CHECKED] = {
	{ "sock/inet_sock_set_state", "watch_state", offsetof(struct watch_gauges, states) },
	{ "tcp/tcp_destroy_sock", "watch_death", offsetof(struct watch_gauges, ends) },
	{ "sock/inet_sk_error_report", "watch_completion", offsetof(struct watch_gauges, reports) },
	{ "net/net_dev_queue", "watch_departure", offsetof(struct watch_gauges, departures) },
	{ "net/netif_receive_skb", "watch_arrival", offsetof(struct watch_gauges, arrivals) },
};

/* Which of the hooks; -1: this kernel has none of that name. */
static int hook_of(const struct watch_probes *p, int i)
{
	for (int at = 0; at < p->probe_count; at++)
		if (!strcmp(watch_hooks[at].program, checked[i].program))
			return at;
	return -1;
}

static uint64_t seen_by(const void *arg, int i)
{
	const struct watch_probes *p = arg;
	const char *gauges = (const char *)&p->skel->bss->watch_gauges;

	return __atomic_load_n((const unsigned long long *)(gauges + checked[i].seen), __ATOMIC_SEQ_CST);
}

void unseen_open(struct watch_probes *p)
{
	const char *events[WATCH_CHECKED];

	for (int i = 0; i < WATCH_CHECKED; i++)
		events[i] = checked[i].event;
	p->hits = tp_hits_open(events, WATCH_CHECKED);
}

void unseen_begin(struct watch_probes *p)
{
	for (int i = 0; p->hits && i < WATCH_CHECKED; i++) {
		int at = hook_of(p, i);

		if (at < 0 || !p->links[at] || p->counts[i])
			continue;
		tp_hits_start(p->hits, i);
		p->ahead[i] = tp_hits_ahead(p->hits, i, seen_by, p);
		p->counts[i] = true;
	}
}

void unseen_note(const struct watch_probes *p, struct probe *probes)
{
	for (int i = 0; i < WATCH_CHECKED; i++) {
		struct probe *probe;
		int64_t missed;

		if (!p->counts[i])
			continue;
		missed = tp_hits_ahead(p->hits, i, seen_by, p) - p->ahead[i];
		probe = &probes[hook_of(p, i)];
		probe->perf_checked = true;
		probe->missed_hits = missed > 0 ? missed : 0;
	}
}
