// SPDX-License-Identifier: GPL-2.0
/* What samples of the clock say of processes and of their threads; pure. */
#include "userspace/watch/books/watch_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/judge/cpu_classes.h"

static int order(uint32_t tgid, uint32_t other_tgid, uint32_t tid, uint32_t other_tid)
{
	return numbers_order(tgid, other_tgid) ?: numbers_order(tid, other_tid);
}

static int stacks_by_thread(const void *a, const void *b)
{
	const struct cpu_stack *x = a, *y = b;

	return order(x->tgid, y->tgid, x->tid, y->tid);
}

static int spans_by_thread(const void *a, const void *b)
{
	const struct cpu_span *x = a, *y = b;

	return order(x->tgid, y->tgid, x->tid, y->tid);
}

static int processes_by_pid(const void *a, const void *b)
{
	return numbers_order((*(struct watch_process *const *)a)->id.pid, (*(struct watch_process *const *)b)->id.pid);
}

/* What is not told by itself comes last. */
static int most_samples_first(const void *a, const void *b)
{
	const struct cpu_thread_use *x = a, *y = b;

	if (!x->tid != !y->tid)
		return x->tid ? -1 : 1;
	return x->all == y->all ? order(x->tgid, y->tgid, x->tid, y->tid) : x->all < y->all ? 1 : -1;
}

static void use_join(struct cpu_thread_use *to, const struct cpu_thread_use *from)
{
	to->threads += from->threads;
	to->all += from->all;
	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++)
		to->samples[c] += from->samples[c];
}

/* Keeps so many of @count threads of one process, and all others as one. How many that leaves. */
static int threads_keep(struct cpu_thread_use *threads, int count)
{
	struct cpu_thread_use others = { .tgid = threads->tgid };
	int kept = 0;

	qsort(threads, count, sizeof(*threads), most_samples_first);
	while (kept < count && kept < CPU_THREADS_TOLD && threads[kept].tid)
		kept++;
	for (int i = kept; i < count; i++)
		use_join(&others, &threads[i]);
	if (kept < count)
		threads[kept++] = others;
	return kept;
}

/* The samples of one process, which are @stacks and @spans, sorted. How many threads it takes at @threads. */
static int process_fill(struct watch_process *p, const struct cpu_stack *stacks, int stack_count,
			const struct cpu_span *spans, int span_count, struct cpu_thread_use *threads)
{
	int count = 0, at = 0;

	for (int i = 0; i < stack_count; i++) {
		bool fresh = !i || stacks[i].tid != stacks[i - 1].tid;
		struct cpu_thread_use *thread = &threads[fresh ? count++ : count - 1];
		enum cpu_class c = cpu_use_add_stack(&p->cpu, &stacks[i]);

		if (fresh) {
			*thread = (struct cpu_thread_use){ .tgid = stacks[i].tgid, .tid = stacks[i].tid,
							   .threads = stacks[i].tid != 0 };
			while (at < span_count && spans[at].tid < stacks[i].tid)
				at++;
			if (at < span_count && spans[at].tid == stacks[i].tid)
				memcpy(thread->comm, spans[at].comm, sizeof(thread->comm));
		}
		thread->samples[c] += stacks[i].samples;
		thread->all += stacks[i].samples;
	}
	for (int i = 0; i < span_count; i++)
		cpu_use_add_span(&p->cpu, &spans[i]);
	p->cpu.by_thread = threads;
	p->cpu.by_thread_count = count ? threads_keep(threads, count) : 0;
	return p->cpu.by_thread_count;
}

static void all_fill(struct watch_record *r, const struct cpu_samples *s, struct watch_process **by_pid)
{
	/* How long a cycle takes, varies; an emulated processor comes late to the ticks of its clock. */
	bool steady = !strcmp(r->cpu_clock, "cpu-clock") && !r->machine.emulated;
	int stack = 0, span = 0, used = 0;

	for (int i = 0; i < r->process_count; i++) {
		struct watch_process *p = by_pid[i];
		int stacks, spans;

		while (stack < s->stack_count && s->stacks[stack].tgid < p->id.pid)
			stack++;
		while (span < s->span_count && s->spans[span].tgid < p->id.pid)
			span++;
		for (stacks = stack; stacks < s->stack_count && s->stacks[stacks].tgid == p->id.pid;)
			stacks++;
		for (spans = span; spans < s->span_count && s->spans[spans].tgid == p->id.pid;)
			spans++;
		used += process_fill(p, &s->stacks[stack], stacks - stack, &s->spans[span], spans - span,
				     &r->cpu_threads[used]);
		stack = stacks;
		span = spans;
		p->cpu_clock = steady ? cpu_clock_weigh(&p->cpu, r->cpu_hz) : LAW_NOT_TESTABLE;
		r->cpu_broken += p->cpu_clock == LAW_BROKEN;
	}
}

int watch_cpu_fill(struct watch_record *r, struct cpu_samples *samples)
{
	struct watch_process **by_pid = calloc(r->process_count + 1, sizeof(*by_pid));

	r->cpu_lost = samples->lost;
	r->cpu_named = samples->named;
	memcpy(r->cpu_names_why, samples->programs.why, sizeof(r->cpu_names_why));
	r->cpu_threads = calloc(samples->stack_count + 1, sizeof(*r->cpu_threads));
	if (by_pid && r->cpu_threads) {
		for (int i = 0; i < r->process_count; i++)
			by_pid[i] = &r->processes[i];
		qsort(by_pid, r->process_count, sizeof(*by_pid), processes_by_pid);
		qsort(samples->stacks, samples->stack_count, sizeof(*samples->stacks), stacks_by_thread);
		qsort(samples->spans, samples->span_count, sizeof(*samples->spans), spans_by_thread);
		all_fill(r, samples, by_pid);
	}
	free(by_pid);
	return by_pid && r->cpu_threads ? 0 : -ENOMEM;
}
