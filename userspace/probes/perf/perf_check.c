// SPDX-License-Identifier: GPL-2.0
/* Compares how many hits programs counted with what perf counted at the same tracepoints. */
#include "userspace/probes/perf/perf_check.h"

#include <string.h>

enum { OFFSET_TRIES = 1000, OFFSET_READINGS = 9 };

/* Closing a counter takes the kernel 60 ms or more, one after the other. If nothing was referenced,
 * a missed arrival cannot hide a copy. */
static bool worth_perf_check(const struct hook *hook, bool references)
{
	bool of_references = !strcmp(hook->metric, "late_copy") || !strcmp(hook->metric, "clean");

	return hook->event && (references || !of_references);
}

void perf_check_open(struct perf_check *v, const struct hook *hooks, bool references, const struct record *r)
{
	const char *names[TP_HITS_MAX];

	for (int i = 0; i < r->probe_count && v->count < TP_HITS_MAX; i++) {
		if (r->probes[i].status != PROBE_ATTACHED || !worth_perf_check(&hooks[i], references))
			continue;
		names[v->count] = hooks[i].event;
		v->hook[v->count++] = i;
	}
	v->tp_hits = tp_hits_open(names, v->count);
	if (v->tp_hits)
		tp_hits_start(v->tp_hits);
}

static uint64_t seen_by(const struct probes_view *view, enum seen_hook hook)
{
	uint64_t sum = 0;

	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		sum += __atomic_load_n(&view->seen[cpu].tp_hits[hook], __ATOMIC_SEQ_CST);
	return sum;
}

/* Perf's count less the program's own, read until no hit came in between: packets of other programs
 * never stop. */
static int64_t hits_offset_once(const struct perf_check *v, const struct probes_view *view,
				  const struct hook *hooks, int i)
{
	enum seen_hook hook = hooks[v->hook[i]].seen;
	uint64_t seen = 0, fired = 0;

	for (int tries = 0; tries < OFFSET_TRIES; tries++) {
		seen = seen_by(view, hook);
		fired = tp_hits_read(v->tp_hits, i);
		if (seen == seen_by(view, hook))
			break;
	}
	return fired - seen;
}

/* A hit between perf's handler and the program shifts one reading: take the median. */
static int64_t hits_offset(const struct perf_check *v, const struct probes_view *view,
			     const struct hook *hooks, int i)
{
	int64_t sorted[OFFSET_READINGS];

	for (int n = 0; n < OFFSET_READINGS; n++) {
		int64_t offset = hits_offset_once(v, view, hooks, i);
		int at = n;

		for (; at > 0 && sorted[at - 1] > offset; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = offset;
	}
	return sorted[OFFSET_READINGS / 2];
}

void perf_check_begin(struct perf_check *v, const struct probes_view *view, const struct hook *hooks)
{
	for (int i = 0; v->tp_hits && i < v->count; i++)
		v->offset[i] = hits_offset(v, view, hooks, i);
}

void perf_check_end(const struct perf_check *v, const struct probes_view *view, const struct hook *hooks,
	       struct record *r)
{
	for (int i = 0; v->tp_hits && i < v->count; i++) {
		struct probe *probe = &r->probes[v->hook[i]];
		int64_t grown = hits_offset(v, view, hooks, i) - v->offset[i];

		probe->perf_checked = true;
		probe->missed_hits = grown > 0 ? grown : 0;
	}
}
