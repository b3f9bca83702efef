// SPDX-License-Identifier: GPL-2.0
/* Samples of the clock over a whole watch, whose tables in the kernel hold a turn of them; pure. */
#include "userspace/watch/books/cpu_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/judge/cpu_classes.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_place(const void *a, const void *b)
{
	const struct cpu_stack *x = a, *y = b;

	return ORDER(x->tgid, y->tgid) ?: ORDER(x->tid, y->tid) ?: ORDER(x->class, y->class) ?:
	       ORDER(x->softirq, y->softirq) ?: ORDER(x->address, y->address);
}

static int by_span(const void *a, const void *b)
{
	const struct cpu_span *x = a, *y = b;

	return ORDER(x->tgid, y->tgid) ?: ORDER(x->tid, y->tid) ?: ORDER(x->first_ns, y->first_ns);
}

/* Rows that are sorted: each place once. How many are left. */
static int rows_join(struct cpu_stack *rows, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		if (kept && !by_place(&rows[kept - 1], &rows[i]))
			rows[kept - 1].samples += rows[i].samples;
		else
			rows[kept++] = rows[i];
	return kept;
}

static int rows_sort(struct cpu_stack *rows, int count)
{
	if (count)
		qsort(rows, count, sizeof(*rows), by_place);
	return rows_join(rows, count);
}

/* Names of functions have no place here. */
static void classify(struct cpu_stack *stacks, int count)
{
	for (int i = 0; i < count; i++) {
		cpu_stack_classify(&stacks[i]);
		stacks[i].frames = "";
		if (!stacks[i].user)
			stacks[i].address = 0;
	}
}

static void rows_bound(struct cpu_tally *t)
{
	for (int i = 0; t->row_count > CPU_ROWS_MOST && i < t->row_count; i++)
		t->rows[i].address = 0;
	t->row_count = rows_sort(t->rows, t->row_count);
	for (int i = 0; t->row_count > CPU_ROWS_MOST && i < t->row_count; i++)
		t->rows[i].tid = 0;
	t->row_count = rows_sort(t->rows, t->row_count);
	while (t->row_count > CPU_ROWS_MOST)
		t->dropped += t->rows[--t->row_count].samples;
}

static int rows_add(struct cpu_tally *t, struct cpu_samples *came)
{
	struct cpu_stack *all = malloc((t->row_count + came->stack_count + 1) * sizeof(*all));
	int count = 0, old = 0, new = 0;

	if (!all)
		return -ENOMEM;
	classify(came->stacks, came->stack_count);
	came->stack_count = rows_sort(came->stacks, came->stack_count);
	while (old < t->row_count || new < came->stack_count) {
		bool first = new == came->stack_count ||
			     (old < t->row_count && by_place(&t->rows[old], &came->stacks[new]) <= 0);

		all[count++] = first ? t->rows[old++] : came->stacks[new++];
	}
	free(t->rows);
	t->rows = all;
	t->row_count = rows_join(all, count);
	if (t->row_count > CPU_ROWS_MOST)
		rows_bound(t);
	return 0;
}

static void span_join(struct cpu_span *to, const struct cpu_span *from)
{
	to->periods += from->periods;
	to->skipped += from->skipped;
	to->run_ns += from->run_ns;
	memcpy(to->comm, from->comm, sizeof(to->comm));
}

/* Sorted ones: one for each thread. How many are left. */
static int spans_join(struct cpu_span *spans, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		if (kept && spans[kept - 1].tgid == spans[i].tgid && spans[kept - 1].tid == spans[i].tid)
			span_join(&spans[kept - 1], &spans[i]);
		else
			spans[kept++] = spans[i];
	return kept;
}

/* What comes of a span that is known is all of it. */
static int spans_add(struct cpu_tally *t, struct cpu_samples *came)
{
	struct cpu_span *all = malloc((t->span_count + came->span_count + 1) * sizeof(*all));
	int count = 0, old = 0, new = 0;

	if (!all)
		return -ENOMEM;
	if (came->span_count)
		qsort(came->spans, came->span_count, sizeof(*came->spans), by_span);
	while (old < t->span_count || new < came->span_count) {
		int order = new == came->span_count ? -1 : old == t->span_count ? 1 :
			    by_span(&t->spans[old], &came->spans[new]);

		all[count++] = order < 0 ? t->spans[old] : came->spans[new];
		old += order <= 0;
		new += order >= 0;
	}
	free(t->spans);
	t->spans = all;
	t->span_count = count;
	return 0;
}

/* Its law is then of what came since. */
static void spans_bound(struct cpu_tally *t)
{
	if (t->span_count > CPU_SPANS_MOST)
		t->span_count = 0;
}

int cpu_tally_add(struct cpu_tally *t, struct cpu_samples *came)
{
	int err = rows_add(t, came);

	spans_bound(t);
	if (!err)
		err = spans_add(t, came);
	t->lost = came->lost + t->dropped;
	return err;
}

int cpu_tally_all(const struct cpu_tally *t, struct cpu_samples *all)
{
	*all = (struct cpu_samples){
		.stacks = malloc((t->row_count + 1) * sizeof(*all->stacks)), .stack_count = t->row_count,
		.spans = malloc((t->span_count + 1) * sizeof(*all->spans)), .lost = t->lost,
	};
	if (!all->stacks || !all->spans)
		return -ENOMEM;
	if (t->row_count)
		memcpy(all->stacks, t->rows, t->row_count * sizeof(*all->stacks));
	if (t->span_count)
		memcpy(all->spans, t->spans, t->span_count * sizeof(*all->spans));
	all->span_count = spans_join(all->spans, t->span_count);
	return 0;
}

void cpu_tally_free(struct cpu_tally *t)
{
	free(t->rows);
	free(t->spans);
	*t = (struct cpu_tally){};
}
