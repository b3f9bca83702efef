// SPDX-License-Identifier: GPL-2.0
/* Describes a run that ended before its gate was opened. */
#include "userspace/run/before_start.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/counters/counters.h"
#include "userspace/judge/outcome.h"
#include "userspace/judge/sites.h"
#include "userspace/run/ends/ending.h"

/* The longest time between a dying process closing its pipes and waitpid() reporting it. */
enum { DYING_MS = 500 };

static void note_dead(struct child children[END_COUNT], struct run_ends *ends)
{
	for (int e = 0; e < END_COUNT; e++) {
		struct child *c = &children[e];

		if (c->pid > 0 && !c->ended)
			c->ended = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
		if (c->pid > 0 && c->ended)
			end_outcome_read(&ends->end[e], c->status);
	}
}

/* An end that ended by itself has printed why: its port is taken, or its memory is limited. */
static bool was_killed(const struct run_ends *ends)
{
	return ends->end[END_SENDER].signal || ends->end[END_RECEIVER].signal;
}

static bool has_ended(const struct run_ends *ends)
{
	return ends->end[END_SENDER].known || ends->end[END_RECEIVER].known;
}

bool describe_unstarted(struct record *r, struct child children[END_COUNT])
{
	struct run_ends *ends = &r->experiment->ends;

	note_dead(children, ends);
	for (int ms = 0; ms < DYING_MS && !ending_asked() && !has_ended(ends); ms++) {
		usleep(1000);
		note_dead(children, ends);
	}
	if (!ending_asked() && !was_killed(ends))
		return false;
	ending_left_ms();
	ends->interrupt_signal = children_interrupted();
	ends->before_gate = true;
	r->backend = BACKEND_NONE;
	r->probe_count = 0;
	r->stats_known = false;
	snprintf(r->backend_why, WHY_BYTES, "the run %s before %s began",
		 ends->interrupt_signal ? "was interrupted" : "failed",
		 r->experiment->during == PASS_COUNTED ? "its counted pass" : "it");
	for (int e = 0; e < END_COUNT; e++)
		counters_read(NULL, r->experiment->counters[e]);
	sites_fill(r);
	return true;
}
