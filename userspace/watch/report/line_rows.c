// SPDX-License-Identifier: GPL-2.0
/* Makes the rows of a line: what processes did since the line before, each by itself or added up to services. */
#include "userspace/watch/report/line_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"
#include "userspace/watch/report/names.h"

/* A process now and at the line before; one that is not there any more, or has another name, is .gone. */
struct entry {
	const struct watch_process *now;
	const struct line_note *before;	/* NULL: it was not there */
	bool gone, quiet;
	uint32_t laws_broken;
	uint64_t open;
	struct figure needless, copied;
};

struct figure lately_figure(const struct watch_sum *sum, struct figure (*of)(const struct watch_movements *))
{
	struct watch_movements before = sum->moved;
	struct figure now = of(&sum->moved);

	watch_movements_subtract(&before, &sum->lately);
	return (struct figure){ now.known, now.bytes - of(&before).bytes };
}

void sizes_subtract(struct call_sizes *from, const struct call_sizes *less)
{
	for (int way = 0; way < CALL_WAY_COUNT; way++)
		for (int i = 0; i < SIZE_BUCKETS; i++) {
			from->bucket[way][i].calls -= less->bucket[way][i].calls;
			from->bucket[way][i].bytes -= less->bucket[way][i].bytes;
		}
}

void sizes_add(struct call_sizes *to, const struct call_sizes *more)
{
	for (int way = 0; way < CALL_WAY_COUNT; way++)
		for (int i = 0; i < SIZE_BUCKETS; i++) {
			to->bucket[way][i].calls += more->bucket[way][i].calls;
			to->bucket[way][i].bytes += more->bucket[way][i].bytes;
		}
}

bool holds_since(struct call_holds *lately, const struct call_holds *now, const struct call_holds *before)
{
	uint64_t sends = 0;

	*lately = *now;
	for (int i = 0; i < HOLD_BUCKETS; i++) {
		lately->posted.bucket[i] -= before ? before->posted.bucket[i] : 0;
		lately->read.bucket[i] -= before ? before->read.bucket[i] : 0;
		sends += lately->posted.bucket[i] + lately->read.bucket[i];
	}
	return sends || now->outstanding || (before && before->outstanding);
}

static void holds_add(struct call_holds *to, const struct call_holds *more)
{
	for (int i = 0; i < HOLD_BUCKETS; i++) {
		to->posted.bucket[i] += more->posted.bucket[i];
		to->read.bucket[i] += more->read.bucket[i];
	}
	to->outstanding += more->outstanding;
}

static bool did_nothing(const struct watch_movements *m)
{
	bool nothing = true;

	for (int i = 0; i < SITE_COUNT; i++)
		nothing &= !m->site[i].bytes;
	for (int i = 0; i < COUNT_COUNT; i++)
		nothing &= !m->count[i];
	return nothing;
}

static bool was_sampled(const struct watch_record *r, const struct entry *e)
{
	return r->cpu_clock && memcmp(e->now->cpu.samples, e->before ? e->before->cpu : (uint64_t[CPU_CLASS_COUNT]){},
				      sizeof(e->before->cpu));
}

static const struct call_sizes *sizes_before(const struct line_notes *notes, const struct entry *e)
{
	return e->before && e->before->at >= 0 ? &notes->sizes[e->before->at] : NULL;
}

static const struct call_holds *holds_before(const struct line_notes *notes, const struct entry *e)
{
	return e->before && e->before->at >= 0 ? &notes->holds[e->before->at] : NULL;
}

static bool was_sized(const struct line_notes *notes, const struct entry *e)
{
	const struct call_sizes *before = sizes_before(notes, e), none = {};
	struct call_holds lately;

	return e->now->sizes && (memcmp(e->now->sizes->bucket, before ? before->bucket : none.bucket, sizeof(none.bucket)) ||
				 holds_since(&lately, e->now->holds, holds_before(notes, e)));
}

static void entry_fill(struct entry *e, const struct line_notes *notes, const struct watch_record *r)
{
	const struct watch_sum *sum = &e->now->sum;

	e->open = sum->sockets - sum->died;
	e->laws_broken = sum->laws_broken & ~(e->before ? e->before->laws_broken : 0);
	e->quiet = did_nothing(&sum->lately) && !e->laws_broken && !was_sampled(r, e) && !was_sized(notes, e);
	if (e->quiet && e->open == (e->before ? e->before->open : 0)) {
		e->needless = e->copied = (struct figure){ .known = true };
		return;
	}
	e->needless = lately_figure(sum, figure_needless);
	e->copied = lately_figure(sum, figure_copied);
}

static bool is_named_alike(const struct line_note *note, const struct watch_process *p)
{
	const struct watch_service service = service_of(p);

	return !services_order(&note->service, &service);
}

static struct watch_process named_as(const struct line_note *note)
{
	struct watch_process p = { .id = note->id, .cgroup = note->service.cgroup, .uid = note->service.uid,
				   .sum = watch_sum_of_nothing() };

	memcpy(p.comm, note->service.comm, sizeof(p.comm));
	return p;
}

/* Alike for those of one service. A socket that no process has is the kernel's, or its listener's. */
static int by_service(const struct entry *a, const struct entry *b)
{
	const struct watch_process *x = a->now, *y = b->now;

	return service_compare(x, y) ?: numbers_order(!x->id.pid, !y->id.pid) ?:
	       numbers_order(x->id.listener, y->id.listener);
}

static unsigned int figures_known(const struct entry *e)
{
	return e->needless.known | e->copied.known << 1;
}

/* Alike for those whose numbers can be added up: a number that one lacks does not spoil those of the others. */
static int by_knowledge(const struct entry *a, const struct entry *b)
{
	const struct watch_movements *x = &a->now->sum.lately, *y = &b->now->sum.lately;

	return numbers_order(a->quiet, b->quiet) ?: numbers_order(x->sites_known, y->sites_known) ?:
	       numbers_order(x->counts_known, y->counts_known) ?:
	       numbers_order(figures_known(a), figures_known(b)) ?:
	       numbers_order(a->laws_broken ? a->now->id.pid : 0, b->laws_broken ? b->now->id.pid : 0);
}

static int by_row(const void *a, const void *b)
{
	return by_service(a, b) ?: by_knowledge(a, b);
}

static void row_begin(struct line_row *row, const struct entry *e, const struct watch_record *r)
{
	row->who = e->now;
	row->processes = 0;
	row->open = 0;
	row->sum = watch_sum_of_nothing();
	row->needless = row->copied = (struct figure){ .known = true };
	row->sampled = row->held = false;
	row->laws_broken = 0;
	memset(row->cpu, 0, sizeof(row->cpu));
	if (!r->sizes.all)
		return;
	row->sizes = (struct call_sizes){};
	row->holds = (struct call_holds){};
}

static void sized_add(struct line_row *row, const struct line_notes *notes, const struct entry *e)
{
	const struct call_sizes *before = sizes_before(notes, e);
	struct call_holds held;

	sizes_add(&row->sizes, e->now->sizes);
	if (before)
		sizes_subtract(&row->sizes, before);
	if (!holds_since(&held, e->now->holds, holds_before(notes, e)))
		return;
	row->held = true;
	holds_add(&row->holds, &held);
}

static void figure_add(struct figure *to, struct figure more)
{
	to->known &= more.known;
	to->bytes += more.bytes;
}

static void row_add(struct line_row *row, const struct line_notes *notes, const struct watch_record *r,
		    const struct entry *e)
{
	const struct watch_sum *sum = &e->now->sum;

	row->processes++;
	watch_movements_add(&row->sum.moved, &sum->lately);
	for (int layer = 0; layer < WATCH_LAYER_COUNT; layer++)
		row->sum.other[layer].sockets += sum->other[layer].sockets;
	figure_add(&row->needless, e->needless);
	figure_add(&row->copied, e->copied);
	row->laws_broken |= e->laws_broken;
	row->sampled |= was_sampled(r, e);
	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++)
		row->cpu[c] += e->now->cpu.samples[c] - (e->before ? e->before->cpu[c] : 0);
	if (e->now->sizes)
		sized_add(row, notes, e);
}

struct telling {
	const struct line_notes *notes;
	const struct watch_record *r;
	bool fold;
	struct line_row *row;
	void (*take)(void *arg, const struct line_row *row);
	void *arg;
};

/* The entries from @first to the one before @end are of one service, or one process. */
static void tell_service(const struct telling *t, const struct entry *first, const struct entry *end)
{
	uint64_t open = 0, before = 0;
	bool told = false;

	for (const struct entry *e = first; e < end; e++) {
		open += e->gone ? 0 : e->open;
		if (e->before && (e->gone || !t->fold || is_named_alike(e->before, e->now)))
			before += e->before->open;
	}
	while (first < end && (!first->quiet || (!told && open != before))) {
		const struct entry *of = first;

		row_begin(t->row, of, t->r);
		t->row->open = told ? 0 : open;
		told = true;
		do
			row_add(t->row, t->notes, t->r, first++);
		while (first < end && !by_knowledge(of, first));
		t->take(t->arg, t->row);
	}
}

/* Those that the line before told, and that are not there by this name. */
static int gone_fill(struct entry *entries, struct watch_process *gone, const struct line_notes *notes,
		     const struct watch_record *r, const struct watch_ids *there, bool fold)
{
	int count = 0;

	for (int i = 0; i < notes->count; i++) {
		const struct line_note *note = &notes->note[i];
		int at = watch_ids_find(there, &note->id);

		if (!note->open || (at >= 0 && (!fold || is_named_alike(note, &r->processes[at]))))
			continue;
		gone[count] = named_as(note);
		entries[count] = (struct entry){ .now = &gone[count], .before = note, .gone = true, .quiet = true,
						   .needless = { .known = true }, .copied = { .known = true } };
		count++;
	}
	return count;
}

int line_rows(const struct line_notes *before, const struct watch_record *r, bool fold,
	      void (*take)(void *arg, const struct line_row *row), void *arg)
{
	struct entry *entries = calloc(r->process_count + before->count + 1, sizeof(*entries));
	struct watch_process *gone = malloc((before->count + 1) * sizeof(*gone));
	struct telling t = { before, r, fold, calloc(1, sizeof(*t.row)), take, arg };
	struct watch_ids there = {};
	int err = entries && gone && t.row ? watch_ids_fill(&there, r) : -ENOMEM, count = err ? 0 : r->process_count;

	for (int i = 0; i < count; i++) {
		int at = watch_ids_find(&before->index, &r->processes[i].id);

		entries[i] = (struct entry){ .now = &r->processes[i], .before = at < 0 ? NULL : &before->note[at] };
		entry_fill(&entries[i], before, r);
	}
	if (!err)
		count += gone_fill(&entries[count], gone, before, r, &there, fold);
	if (fold && count)
		qsort(entries, count, sizeof(*entries), by_row);
	for (int first = 0, end = 1; first < count; first = end++) {
		while (fold && end < count && !by_service(&entries[first], &entries[end]))
			end++;
		tell_service(&t, &entries[first], &entries[end]);
	}
	watch_ids_free(&there);
	free(entries);
	free(gone);
	free(t.row);
	return err;
}

static void *copy_of(const void *items, int count, size_t size)
{
	void *copy = malloc((count + 1) * size);

	return copy && count ? memcpy(copy, items, count * size) : copy;
}

void line_notes_free(struct line_notes *notes)
{
	free(notes->note);
	free(notes->sizes);
	free(notes->holds);
	watch_ids_free(&notes->index);
	*notes = (struct line_notes){};
}

static struct line_note note_of(const struct watch_record *r, const struct watch_process *p)
{
	struct line_note note = { .id = p->id, .service = service_of(p), .open = p->sum.sockets - p->sum.died,
				  .laws_broken = p->sum.laws_broken, .at = p->sizes ? p->sizes - r->sizes.all : -1 };

	memcpy(note.cpu, p->cpu.samples, sizeof(note.cpu));
	return note;
}

int line_notes_take(struct line_notes *notes, const struct watch_record *r)
{
	int sized = r->sizes.all ? r->sizes.count : 0;

	line_notes_free(notes);
	notes->note = malloc((r->process_count + 1) * sizeof(*notes->note));
	notes->sizes = copy_of(r->sizes.all, sized, sizeof(*notes->sizes));
	notes->holds = copy_of(r->sizes.holds, sized, sizeof(*notes->holds));
	if (!notes->note || !notes->sizes || !notes->holds)
		return -ENOMEM;
	for (; notes->count < r->process_count; notes->count++)
		notes->note[notes->count] = note_of(r, &r->processes[notes->count]);
	return watch_ids_fill(&notes->index, r);
}
