// SPDX-License-Identifier: GPL-2.0
/* Compares how often tracepoints were hit with how often the programs ran. */
#include "userspace/engine/hits.h"

#include <string.h>

/* An open counter costs each hit of its tracepoint something, started or not, and takes the kernel 60 ms to close.
 * With details each packet is checked. Without, what laws cannot show: kernels that accept trampolines were never
 * seen to hide hits but those that they count as missed runs. If nothing is referenced, a missed arrival cannot
 * hide a copy. */
static bool is_checked(const struct engine *p, const struct hook *hook)
{
	bool of_references = !strcmp(hook->metric, "late_copy") || !strcmp(hook->metric, "clean");

	if (!hook->event || p->config.fault_inject == FAULT_COUNT_NOTHING)
		return false;
	if (p->config.sets & HOOKS_DETAIL)
		return hook->sets & HOOKS_DETAIL && (p->config.references || !of_references);
	return p->backend == BACKEND_TRACEPOINT;
}

static uint64_t seen_by(const void *arg, int n)
{
	const struct engine *p = arg;
	enum seen_hook hook = p->hooks.row[p->hit_rows[n]]->seen;
	uint64_t sum = 0;

	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		sum += __atomic_load_n(&p->skel->bss->seen[cpu].tp_hits[hook], __ATOMIC_SEQ_CST);
	return sum;
}

void hits_open(struct engine *p)
{
	const char *events[TP_HITS_MAX];

	for (int i = 0; i < p->hooks.count && p->hit_count < TP_HITS_MAX; i++) {
		if (*p->hooks.probes[i].why || !is_checked(p, p->hooks.row[i]))
			continue;
		events[p->hit_count] = p->hooks.row[i]->event;
		p->hit_rows[p->hit_count++] = i;
	}
	p->hits = tp_hits_open(events, p->hit_count);
}

void hits_begin(struct engine *p)
{
	for (int n = 0; p->hits && n < p->hit_count; n++) {
		if (p->hooks.probes[p->hit_rows[n]].status != PROBE_ATTACHED || p->counts[n])
			continue;
		tp_hits_start(p->hits, n);
		p->ahead[n] = tp_hits_ahead(p->hits, n, seen_by, p);
		p->counts[n] = true;
	}
}

void hits_note(const struct engine *p, struct probe *probes)
{
	for (int n = 0; n < p->hit_count; n++) {
		struct probe *probe = &probes[p->hit_rows[n]];
		int64_t missed;

		if (!p->counts[n])
			continue;
		missed = tp_hits_ahead(p->hits, n, seen_by, p) - p->ahead[n];
		probe->perf_checked = true;
		probe->missed_hits = missed > 0 ? missed : 0;
	}
}
