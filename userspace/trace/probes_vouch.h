/* SPDX-License-Identifier: GPL-2.0 */
/* Perf counters that vouch for programs which run on top of any task; private to the probes module. */
#ifndef COPYSCOPE_PROBES_VOUCH_H
#define COPYSCOPE_PROBES_VOUCH_H

#include "userspace/trace/firings.h"
#include "userspace/trace/hooks.h"
#include "userspace/trace/probes_read.h"

struct vouch {
	struct firings *firings;	/* NULL where perf or tracefs refuses */
	int hook[FIRINGS_MAX];		/* numbers in the hooks and in the record */
	int count;
	int64_t offset[FIRINGS_MAX];	/* perf's count less the program's, as the gate opened */
};

/* Opens a counter for each attached hook that needs one. */
void vouch_open(struct vouch *v, const struct hook *hooks, bool references, const struct record *r);

/* As the gate opens, and when it has closed: notes in r->probes what programs were not shown. */
void vouch_begin(struct vouch *v, const struct probes_view *view, const struct hook *hooks);
void vouch_end(const struct vouch *v, const struct probes_view *view, const struct hook *hooks,
	       struct record *r);

#endif
