// SPDX-License-Identifier: GPL-2.0
/* Makes the subject of a run from its plan, its path and the processes that wait to be released. */
#include "userspace/run/ends/workload_subject.h"

#include <errno.h>

/* An end on another host has no process here: the probes then watch only the other one. */
int workload_subject(struct subject *s, const struct child children[END_COUNT],
		     const struct experiment *x, const char *workload)
{
	s->sockets = 2 * x->plan.threads;
	s->references = plan_references(&x->plan);
	s->forks = plan_forks(&x->plan);
	s->hardware_dma = x->path.hardware_dma;
	s->usdt_path = workload;
	for (int e = 0; e < END_COUNT; e++) {
		if (!children[e].pid)
			continue;
		if (!children[e].tgid)
			return -EPERM;
		s->tgid[s->processes++] = children[e].tgid;
		s->netns[s->namespaces++] = children[e].netns;
		/* The sender's, if it is here. */
		if (!s->usdt_pid)
			s->usdt_pid = children[e].pid;
	}
	return 0;
}
