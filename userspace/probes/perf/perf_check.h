/* SPDX-License-Identifier: GPL-2.0 */
/* Perf counters beside programs that run on top of any task; private to the room probes. */
#ifndef COPYSCOPE_PERF_CHECK_H
#define COPYSCOPE_PERF_CHECK_H

#include "userspace/probes/hooks/hooks.h"
#include "userspace/probes/perf/tp_hits.h"
#include "userspace/probes/read/read.h"

struct perf_check {
	struct tp_hits *tp_hits;	/* NULL where perf or tracefs refuses */
	int hook[TP_HITS_MAX];		/* indexes in the hooks and in the record */
	int count;
	int64_t offset[TP_HITS_MAX];	/* perf's count less the program's, as the gate opened */
};

/* Opens a counter for each attached hook that needs one. */
void perf_check_open(struct perf_check *v, const struct hook *hooks, bool references, const struct record *r);

/* Call them as the gate opens, and when it has closed: notes in r->probes how many hits programs
 * missed. */
void perf_check_begin(struct perf_check *v, const struct probes_view *view, const struct hook *hooks);
void perf_check_end(const struct perf_check *v, const struct probes_view *view, const struct hook *hooks,
	       struct record *r);

#endif
