// SPDX-License-Identifier: GPL-2.0
/* Compares how often tracepoints were hit with how often the programs ran. */
#include "userspace/probes/watch/unseen.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *event, *program;
	size_t seen;	/* where the program counts itself */
} checked[WATCH_CHECKED] = {
	{ "sock/inet_sk_error_report", "watch_completion", offsetof(struct watch_gauges, reports) },
	{ "net/netif_receive_skb", "watch_arrival", offsetof(struct watch_gauges, arrivals) },
};

/* Which of the hooks; -1: this kernel has none of that name. */
static int hook_of(const struct watch_probes *p, int row)
{
	for (int at = 0; at < p->probe_count; at++)
		if (!strcmp(watch_hooks[at].program, checked[row].program))
			return at;
	return -1;
}

static uint64_t seen_by(const void *arg, int n)
{
	const struct watch_probes *p = arg;
	const char *gauges = (const char *)&p->skel->bss->watch_gauges;

	return __atomic_load_n((const unsigned long long *)(gauges + checked[p->hit_rows[n]].seen),
			       __ATOMIC_SEQ_CST);
}

/* A counter that is open costs each hit of its tracepoint something, started or not. Kernels that accept
 * trampolines were never seen to hide hits but those that they count as missed runs. */
void unseen_open(struct watch_probes *p)
{
	const char *events[WATCH_CHECKED];

	if (p->backend == BACKEND_TRAMPOLINE)
		return;
	for (int row = 0; row < WATCH_CHECKED; row++) {
		int at = hook_of(p, row);

		if (at < 0 || *p->probes[at].why)
			continue;
		events[p->hit_count] = checked[row].event;
		p->hit_rows[p->hit_count++] = row;
	}
	p->hits = tp_hits_open(events, p->hit_count);
}

void unseen_begin(struct watch_probes *p)
{
	for (int n = 0; p->hits && n < p->hit_count; n++) {
		if (!p->links[hook_of(p, p->hit_rows[n])] || p->counts[n])
			continue;
		tp_hits_start(p->hits, n);
		p->ahead[n] = tp_hits_ahead(p->hits, n, seen_by, p);
		p->counts[n] = true;
	}
}

void unseen_note(const struct watch_probes *p, struct probe *probes)
{
	for (int n = 0; n < p->hit_count; n++) {
		struct probe *probe;
		int64_t missed;

		if (!p->counts[n])
			continue;
		missed = tp_hits_ahead(p->hits, n, seen_by, p) - p->ahead[n];
		probe = &probes[hook_of(p, p->hit_rows[n])];
		probe->perf_checked = true;
		probe->missed_hits = missed > 0 ? missed : 0;
	}
}
