// SPDX-License-Identifier: GPL-2.0
/* Writes what moved in each interval of a watch: numbers less what they were at the line before. */
#include "userspace/watch/report/watch_line.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "userspace/common/clock.h"
#include "userspace/common/json.h"
#include "userspace/report/parts_json.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/sentence.h"

/* ISO 8601, UTC, with milliseconds. */
static void time_text(uint64_t before_ns, char text[WATCH_TIME_BYTES])
{
	struct timespec now;
	struct tm utc;
	uint64_t ns;
	time_t seconds;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = now.tv_sec * NS_PER_S + now.tv_nsec - before_ns;
	seconds = ns / NS_PER_S;
	gmtime_r(&seconds, &utc);
	strftime(text, WATCH_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + strlen(text), WATCH_TIME_BYTES - strlen(text), ".%03uZ",
		 (unsigned int)(ns / NS_PER_MS % 1000));
}

/* A line begins where the one before it ended, also if the clock was set in between. */
static void put_times(json_t *o, struct watch_deltas *d, const struct watch_record *r)
{
	if (!d->number)
		time_text(r->lately_ns, d->end);
	put(o, "start", text(d->end));
	time_text(0, d->end);
	put(o, "end", text(d->end));
	put(o, "start_seconds", json_real((r->window_ns - r->lately_ns) / 1e9));
	put(o, "end_seconds", json_real(r->window_ns / 1e9));
}

/* What a sum counts from the beginning on, less what it was at the line before. */
static json_t *since(uint64_t *before, uint64_t now)
{
	json_t *difference = json_integer(now - *before);

	*before = now;
	return difference;
}

static json_t *lately_lost_json(struct watch_deltas *d, const struct watch_record *r)
{
	json_t *o = json_object();

	put(o, "lost_events", since(&d->lost_events, r->lost_events));
	put(o, "unbooked_sockets", since(&d->unbooked_sockets, r->unbooked_sockets));
	put(o, "unseen_events", since(&d->unseen_events, r->unseen_events));
	return o;
}

/* What looking took in the interval; the programs are timed if sysctl kernel.bpf_stats_enabled says so. */
static json_t *lately_spent_json(struct watch_deltas *d, const struct watch_record *r)
{
	const struct overhead *programs = &r->overhead.programs;
	double ns = programs->known ? programs->events * programs->ns_per_event : 0;
	json_t *o = json_object();

	put(o, "programs_seconds", real_if(programs->known, (ns - d->programs_ns) / 1e9));
	put(o, "own_cpu_seconds", json_real((r->overhead.own_cpu_ns - d->own_cpu_ns) / 1e9));
	d->programs_ns = ns;
	d->own_cpu_ns = r->overhead.own_cpu_ns;
	return o;
}

static json_t *broken_json(const struct watch_record *r)
{
	uint32_t laws = 0;

	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		laws |= (r->laws[l].status == LAW_BROKEN) << l;
	return watch_laws_json(laws);
}

/* A column of all that moved is no sum over intervals: what is referenced in one is copied in the next. */
static struct figure lately_figure(const struct watch_sum *sum, struct figure (*of)(const struct watch_movements *))
{
	struct watch_movements before = sum->moved;
	struct figure now = of(&sum->moved);

	watch_movements_subtract(&before, &sum->lately);
	return (struct figure){ now.known, now.bytes - of(&before).bytes };
}

static void put_lately_figures(json_t *o, const struct watch_sum *sum)
{
	struct figure needless = lately_figure(sum, figure_needless), copied = lately_figure(sum, figure_copied);

	put(o, "needless_bytes", integer_if(needless.known, needless.bytes));
	put(o, "copied_bytes", integer_if(copied.known, copied.bytes));
	put(o, "copied_least_bytes", json_integer(copied.bytes));
}

static json_t *lately_causes_json(const struct watch_movements *moved)
{
	struct cause causes[WATCH_CAUSES_MAX];
	int count = watch_causes_of(moved, causes);
	json_t *array = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(array, cause_json(&causes[i]));
	return array;
}

static void put_lately(json_t *o, const struct watch_record *r, const struct watch_sum *sum)
{
	struct watch_sum interval = *sum;

	interval.moved = sum->lately;
	put(o, "open", json_integer(sum->sockets - sum->died));
	put(o, "verdict", text(verdict_name(watch_verdict(&interval))));
	put_moved(o, r, &sum->lately);
	put_lately_figures(o, sum);
	put(o, "causes", lately_causes_json(&sum->lately));
}

static json_t *total_json(struct watch_deltas *d, const struct watch_record *r)
{
	json_t *o = json_object();

	put(o, "born", since(&d->born, r->total.born));
	put(o, "died", since(&d->died, r->total.died));
	put_lately(o, r, &r->total);
	return o;
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

static struct watch_line_process nobody(void)
{
	return (struct watch_line_process){ .at = -1 };
}

static struct watch_line_process before_of(const struct watch_deltas *d, const struct watch_process *p)
{
	int at = watch_ids_find(&d->index, &p->id);

	return at < 0 ? nobody() : d->processes[at];
}

/* NULL: no sample of the interval found it on a processor, or none could. */
static json_t *lately_cpu_json(const struct watch_record *r, const struct watch_process *p,
			       const struct watch_line_process *before)
{
	json_t *classes = json_object();
	uint64_t all = 0;

	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++) {
		uint64_t samples = p->cpu.samples[c] - before->cpu[c];

		all += samples;
		put(classes, cpu_class_key(c), json_integer(samples));
	}
	if (all && r->cpu_clock)
		return classes;
	json_decref(classes);
	return NULL;
}

static void sizes_subtract(struct call_sizes *from, const struct call_sizes *less)
{
	for (int way = 0; way < CALL_WAY_COUNT; way++)
		for (int i = 0; i < SIZE_BUCKETS; i++) {
			from->bucket[way][i].calls -= less->bucket[way][i].calls;
			from->bucket[way][i].bytes -= less->bucket[way][i].bytes;
		}
}

static void sizes_add(struct call_sizes *to, const struct call_sizes *more)
{
	for (int way = 0; way < CALL_WAY_COUNT; way++)
		for (int i = 0; i < SIZE_BUCKETS; i++) {
			to->bucket[way][i].calls += more->bucket[way][i].calls;
			to->bucket[way][i].bytes += more->bucket[way][i].bytes;
		}
}

/* NULL: nothing was notified nor read, and nothing waits. */
static json_t *lately_holds_json(const struct call_holds *now, const struct call_holds *before, bool readings_known)
{
	struct hold_times posted = now->posted, read = now->read;
	uint64_t sends = 0;
	json_t *o;

	for (int i = 0; i < HOLD_BUCKETS; i++) {
		posted.bucket[i] -= before ? before->posted.bucket[i] : 0;
		read.bucket[i] -= before ? before->read.bucket[i] : 0;
		sends += posted.bucket[i] + read.bucket[i];
	}
	if (!sends && !now->outstanding && !(before && before->outstanding))
		return NULL;
	o = json_object();
	put(o, "notified", hold_buckets_json(posted.bucket));
	put(o, "read", readings_known ? hold_buckets_json(read.bucket) : json_null());
	put(o, "outstanding", json_integer(now->outstanding));
	return o;
}

/* What it says of calls: histograms of the interval. @sized adds them up. */
static void put_lately_sized(json_t *o, const struct watch_deltas *d, const struct watch_record *r,
			     const struct watch_process *p, const struct watch_line_process *before,
			     struct call_sizes *sized)
{
	struct call_sizes sizes = {};
	json_t *holds = NULL;

	if (p->sizes) {
		sizes = *p->sizes;
		if (before->at >= 0)
			sizes_subtract(&sizes, &d->sizes[before->at]);
		sizes_add(sized, &sizes);
		holds = lately_holds_json(p->holds, before->at >= 0 ? &d->holds[before->at] : NULL,
					  r->sizes.readings_known);
	}
	put(o, "sizes", call_sizes_json(&sizes));
	put(o, "holds", holds ? holds : json_null());
}

/* NULL: there is nothing to say of it. */
static json_t *lately_of_process_json(const struct watch_deltas *d, const struct watch_record *r,
				      const struct watch_process *p, struct call_sizes *sized)
{
	struct watch_line_process before = before_of(d, p);
	json_t *cpu = lately_cpu_json(r, p, &before), *beside = json_object(), *o;
	bool quiet = did_nothing(&p->sum.lately) && before.open == p->sum.sockets - p->sum.died && !cpu &&
		     !(p->sum.laws_broken & ~before.laws_broken);

	if (r->cpu_hz)
		put(beside, "cpu", cpu ? cpu : json_null());
	if (r->sizes.all)
		put_lately_sized(beside, d, r, p, &before, sized);
	if (quiet && !json_array_size(json_object_get(beside, "sizes")) &&
	    !json_is_object(json_object_get(beside, "holds"))) {
		json_decref(beside);
		return NULL;
	}
	o = json_object();
	put_service(o, r, p);
	put(o, "cgroup_id", integer_if(p->cgroup, p->cgroup));
	put_lately(o, r, &p->sum);
	put(o, "laws_broken", watch_laws_json(p->sum.laws_broken & ~before.laws_broken));
	json_object_update(o, beside);
	json_decref(beside);
	return o;
}

static json_t *lately_of_processes_json(const struct watch_deltas *d, const struct watch_record *r,
					struct call_sizes *sized)
{
	json_t *array = json_array();

	for (int i = 0; i < r->process_count; i++) {
		json_t *o = lately_of_process_json(d, r, &r->processes[i], sized);

		if (o)
			json_array_append_new(array, o);
	}
	return array;
}

/* Calls of processes that have no histograms of their own, or that the record has no more: the rest of all. */
static json_t *further_json(struct watch_deltas *d, const struct watch_record *r, const struct call_sizes *sized)
{
	struct call_sizes all = *r->sizes.all, rest;
	json_t *o = json_object(), *holds;

	for (int i = 0; i < r->process_count; i++)
		if (r->processes[i].sizes)
			sizes_add(&all, r->processes[i].sizes);
	rest = all;
	sizes_subtract(&rest, &d->sized);
	sizes_subtract(&rest, sized);
	d->sized = all;
	holds = lately_holds_json(r->sizes.holds, d->holds, r->sizes.readings_known);
	put(o, "sizes", call_sizes_json(&rest));
	put(o, "holds", holds ? holds : json_null());
	return o;
}

static json_t *lately_sampled_json(struct watch_deltas *d, const struct watch_record *r)
{
	json_t *o = json_pack("{s:I}", "hz", (json_int_t)r->cpu_hz);

	put(o, "clock", text_or_null(r->cpu_clock));
	put(o, "lost_samples", since(&d->lost_samples, r->cpu_lost));
	return o;
}

static void *copy_of(const void *items, int count, size_t size)
{
	void *copy = malloc((count + 1) * size);

	return copy && count ? memcpy(copy, items, count * size) : copy;
}

void watch_deltas_free(struct watch_deltas *d)
{
	free(d->processes);
	free(d->sizes);
	free(d->holds);
	watch_ids_free(&d->index);
	d->processes = NULL;
	d->sizes = NULL;
	d->holds = NULL;
}

/* What the next line begins with. 0 or -ENOMEM. */
static int remember(struct watch_deltas *d, const struct watch_record *r)
{
	watch_deltas_free(d);
	d->processes = malloc((r->process_count + 1) * sizeof(*d->processes));
	d->sizes = copy_of(r->sizes.all, r->sizes.all ? r->sizes.count : 0, sizeof(*d->sizes));
	d->holds = copy_of(r->sizes.holds, r->sizes.all ? r->sizes.count : 0, sizeof(*d->holds));
	if (!d->processes || !d->sizes || !d->holds)
		return -ENOMEM;
	for (int i = 0; i < r->process_count; i++) {
		const struct watch_process *p = &r->processes[i];
		struct watch_line_process *note = &d->processes[i];

		*note = nobody();
		note->open = p->sum.sockets - p->sum.died;
		note->laws_broken = p->sum.laws_broken;
		memcpy(note->cpu, p->cpu.samples, sizeof(note->cpu));
		if (p->sizes)
			note->at = p->sizes - r->sizes.all;
		if (watch_ids_put(&d->index, &p->id, i))
			return -ENOMEM;
	}
	return 0;
}

int watch_delta_write(struct watch_deltas *d, const struct watch_record *r,
		      const struct watch_ending *end)
{
	struct call_sizes sized = {};
	json_t *o = json_object();
	int err;

	put(o, "schema", text("copyscope.watch-line/1"));
	put(o, "id", text(r->id));
	put(o, "interval", json_integer(d->number + 1));
	put_times(o, d, r);
	put(o, "ended_by", text_or_null(end->reason));
	put(o, "backend", text(backend_name(r->backend)));
	put(o, "laws_broken", broken_json(r));
	put(o, "losses", lately_lost_json(d, r));
	put(o, "overhead", lately_spent_json(d, r));
	if (r->cpu_hz)
		put(o, "cpu", lately_sampled_json(d, r));
	put(o, "total", total_json(d, r));
	put(o, "processes", lately_of_processes_json(d, r, &sized));
	if (r->sizes.all)
		put(o, "further", further_json(d, r, &sized));
	d->number++;
	err = remember(d, r);
	return json_write_line(o, d->out) ?: err;
}
