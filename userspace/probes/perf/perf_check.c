// SPDX-License-Identifier: GPL-2.0
/* Compares how many hits programs counted with what perf counted at the same tracepoints. */
#include "userspace/probes/perf/perf_check.h"

#include <string.h>

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
	for (int i = 0; v->tp_hits && i < v->count; i++)
		tp_hits_start(v->tp_hits, i);
}

struct seen_hooks {
	const struct perf_check *check;
	const struct probes_view *view;
	const struct hook *hooks;
};

static uint64_t seen_by(const void *arg, int i)
{
	const struct seen_hooks *s = arg;
	enum seen_hook hook = s->hooks[s->check->hook[i]].seen;
	uint64_t sum = 0;

	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		sum += __atomic_load_n(&s->view->seen[cpu].tp_hits[hook], __ATOMIC_SEQ_CST);
	return sum;
}

void perf_check_begin(struct perf_check *v, const struct probes_view *view, const struct hook *hooks)
{
	struct seen_hooks seen = { v, view, hooks };

	for (int i = 0; v->tp_hits && i < v->count; i++)
		v->offset[i] = tp_hits_ahead(v->tp_hits, i, seen_by, &seen);
}

void perf_check_end(const struct perf_check *v, const struct probes_view *view, const struct hook *hooks,
	       struct record *r)
{
	struct seen_hooks seen = { v, view, hooks };

	for (int i = 0; v->tp_hits && i < v->count; i++) {
		struct probe *probe = &r->probes[v->hook[i]];
		int64_t grown = tp_hits_ahead(v->tp_hits, i, seen_by, &seen) - v->offset[i];

		probe->perf_checked = true;
		probe->missed_hits = grown > 0 ? grown : 0;
	}
}
