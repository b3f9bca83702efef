// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether to repeat a run whose probes missed events.
 *
 * A kernel that preempts itself (6.18 and 7.2 do, lazily) may stop a task inside a program. Until
 * the task continues, the kernel skips the program for every other task of that CPU
 * (kernel/bpf/trampoline.c, __bpf_prog_enter_recur). A task under SCHED_FIFO does not interrupt
 * another one, so the next try runs the workload under it. A guest with such a kernel asks for
 * it from its first try on.
 */
#include "userspace/run/retry.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A long run costs more patience, and is more likely to miss packets again. A skipped program is rarer:
 * on 7.2 a run of seconds under SCHED_FIFO meets one in four tries at most.
 */
enum { TRIES = TRIES_MAX, TRIES_LONG = 2 };
static const uint64_t long_ns = 1000000000, long_skipped_ns = 20000000000;

static const char fifo_key[] = "COPYSCOPE_FIFO";

void retry_schedule(struct record *r, bool fifo)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	if ((fifo || getenv(fifo_key)) && sched_setscheduler(0, SCHED_FIFO, &lowest))
		perror("trace_run: cannot run the workload under SCHED_FIFO; going on without");
	retry_note_schedule(r);
}

void retry_note_schedule(struct record *r)
{
	r->experiment->fifo = sched_getscheduler(0) == SCHED_FIFO;
}

static int tries_allowed(const struct record *r)
{
	bool skipped = record_missed(r);

	/* SCHED_FIFO, which helps against skipped programs, is still to be tried. */
	if (skipped && !r->experiment->fifo)
		return TRIES;
	return r->window_ns < (skipped ? long_skipped_ns : long_ns) ? TRIES : TRIES_LONG;
}

bool retry_is_worth_it(const struct record *r)
{
	return r->outcome.status == RUN_BLIND && !r->experiment->far &&
	       r->experiment->attempt < tries_allowed(r);
}

int retry_once_more(const struct record *r)
{
	if (record_missed(r)) {
		fprintf(stderr, "trace_run: the kernel skipped %" PRIu64 " runs of programs, because it "
			"had stopped a task inside them; trying again under SCHED_FIFO\n",
			record_missed(r));
		return TRY_AGAIN_FIFO;
	}
	fprintf(stderr, "trace_run: the probes missed %" PRIu64 " packets, because this kernel runs "
		"no BPF program while certain tasks are current; trying again\n", record_missed_hits(r, NULL));
	return TRY_AGAIN;
}
