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
#include "userspace/judge/causes.h"
#include "userspace/report/parts_json.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"

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
	json_t *names = json_array();

	for (int i = 0; i < r->law_count; i++)
		if (r->laws[i].status == LAW_BROKEN)
			json_array_append_new(names, text(r->laws[i].name));
	return names;
}

static void put_lately_figures(json_t *o, struct figure needless, struct figure copied)
{
	put(o, "needless_bytes", integer_if(needless.known, needless.bytes));
	put(o, "copied_bytes", integer_if(copied.known, copied.bytes));
	put(o, "copied_least_bytes", json_integer(copied.bytes));
}

static json_t *lately_causes_json(const struct watch_movements *moved)
{
	struct cause causes[CAUSES_OF_MOVEMENTS];
	int count = causes_of_movements(moved, causes);
	json_t *array = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(array, cause_json(&causes[i]));
	return array;
}

/* @lately: its .moved is what moved in the interval. */
static void put_lately(json_t *o, const struct watch_record *r, const struct watch_sum *lately, uint64_t open,
		       struct figure needless, struct figure copied)
{
	put(o, "open", json_integer(open));
	put(o, "verdict", text(verdict_name(watch_verdict(lately))));
	put_moved(o, r, &lately->moved);
	put_lately_figures(o, needless, copied);
	put(o, "causes", lately_causes_json(&lately->moved));
}

static json_t *total_json(struct watch_deltas *d, const struct watch_record *r)
{
	struct watch_sum lately = r->total;
	json_t *o = json_object();

	lately.moved = r->total.lately;
	put(o, "born", since(&d->born, r->total.born));
	put(o, "died", since(&d->died, r->total.died));
	put_lately(o, r, &lately, r->total.sockets - r->total.died, lately_figure(&r->total, figure_needless),
		   lately_figure(&r->total, figure_copied));
	return o;
}

/* NULL: no sample of the interval found it on a processor, or none could. */
static json_t *lately_cpu_json(const struct line_row *row)
{
	json_t *classes = row->sampled ? json_object() : NULL;

	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT && classes; c++)
		put(classes, cpu_class_key(c), json_integer(row->cpu[c]));
	return classes;
}

static json_t *lately_holds_json(const struct call_holds *holds, bool readings_known)
{
	json_t *o = json_object();

	put(o, "notified", hold_buckets_json(holds->posted.bucket));
	put(o, "read", readings_known ? hold_buckets_json(holds->read.bucket) : json_null());
	put(o, "outstanding", json_integer(holds->outstanding));
	return o;
}

struct telling {
	const struct watch_deltas *d;
	const struct watch_record *r;
	json_t *rows;
	struct call_sizes sized;	/* the sum of what rows told */
};

static void tell_row(void *arg, const struct line_row *row)
{
	struct telling *t = arg;
	const struct watch_record *r = t->r;
	json_t *o = json_object(), *cpu = lately_cpu_json(row);

	put_service(o, r, row->who);
	if (t->d->fold)
		put(o, "processes", json_integer(row->processes));
	put(o, "cgroup_id", integer_if(row->who->cgroup, row->who->cgroup));
	put_lately(o, r, &row->sum, row->open, row->needless, row->copied);
	put(o, "laws_broken", watch_laws_json(row->laws_broken));
	if (r->cpu_hz)
		put(o, "cpu", cpu ? cpu : json_null());
	else
		json_decref(cpu);
	if (r->sizes.all) {
		sizes_add(&t->sized, &row->sizes);
		put(o, "sizes", call_sizes_json(&row->sizes));
		put(o, "holds", row->held ? lately_holds_json(&row->holds, r->sizes.readings_known) : json_null());
	}
	json_array_append_new(t->rows, o);
}

/* Calls of processes that have no histograms of their own, or that the record has no more: the rest of all. */
static json_t *further_json(struct watch_deltas *d, const struct watch_record *r, const struct call_sizes *sized)
{
	struct call_sizes all = *r->sizes.all, rest;
	struct call_holds holds;
	json_t *o = json_object();

	for (int i = 0; i < r->process_count; i++)
		if (r->processes[i].sizes)
			sizes_add(&all, r->processes[i].sizes);
	rest = all;
	sizes_subtract(&rest, &d->sized);
	sizes_subtract(&rest, sized);
	d->sized = all;
	put(o, "sizes", call_sizes_json(&rest));
	put(o, "holds", holds_since(&holds, r->sizes.holds, d->notes.holds) ?
				lately_holds_json(&holds, r->sizes.readings_known) : json_null());
	return o;
}

static json_t *lately_sampled_json(struct watch_deltas *d, const struct watch_record *r)
{
	json_t *o = json_pack("{s:I}", "hz", (json_int_t)r->cpu_hz);

	put(o, "clock", text_or_null(r->cpu_clock));
	put(o, "lost_samples", since(&d->lost_samples, r->cpu_lost));
	return o;
}

int watch_delta_write(struct watch_deltas *d, const struct watch_record *r,
		      const struct watch_ending *end)
{
	struct telling t = { .d = d, .r = r, .rows = json_array() };
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
	err = line_rows(&d->notes, r, d->fold, tell_row, &t);
	put(o, "processes", t.rows);
	if (r->sizes.all)
		put(o, "further", further_json(d, r, &t.sized));
	d->number++;
	err = err ?: line_notes_take(&d->notes, r);
	return json_write_line(o, d->out) ?: err;
}
