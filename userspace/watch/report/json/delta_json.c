// SPDX-License-Identifier: GPL-2.0
/* Prints what moved in one interval of a watch: sums alone, of all and of each process. */
#include "userspace/watch/report/json/delta_json.h"

#include <string.h>
#include <time.h>

#include "userspace/common/clock.h"
#include "userspace/common/json/json.h"
#include "userspace/report/json/parts_json.h"
#include "userspace/watch/judge/watch_judge.h"
#include "userspace/watch/report/json/parts_json.h"
#include "userspace/watch/summary/sentence.h"

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

static json_t *losses_json(struct watch_deltas *d, const struct watch_record *r)
{
	json_t *o = json_object();

	put(o, "lost_events", since(&d->lost_events, r->lost_events));
	put(o, "unbooked_sockets", since(&d->unbooked_sockets, r->unbooked_sockets));
	put(o, "unseen_events", since(&d->unseen_events, r->unseen_events));
	return o;
}

static json_t *broken_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		if (r->laws[l].status == LAW_BROKEN)
			json_array_append_new(array, text(watch_law_name(l)));
	return array;
}

static void put_lately(json_t *o, const struct watch_record *r, const struct watch_sum *sum)
{
	struct watch_sum interval = *sum;

	interval.moved = sum->lately;
	put(o, "open", json_integer(sum->sockets - sum->died));
	put(o, "verdict", text(verdict_name(watch_verdict(&interval))));
	put(o, "sites", watched_sites_json(r, &sum->lately));
	put(o, "counts", watched_counts_json(&sum->lately));
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
		nothing &= !m->site_bytes[i];
	for (int i = 0; i < COUNT_COUNT; i++)
		nothing &= !m->count[i];
	return nothing;
}

static json_t *processes_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->process_count; i++) {
		const struct watch_process *p = &r->processes[i];
		json_t *o;

		if (did_nothing(&p->sum.lately))
			continue;
		o = json_object();
		put_watched_name(o, &p->id, p->comm);
		put_lately(o, r, &p->sum);
		json_array_append_new(array, o);
	}
	return array;
}

int watch_delta_write(struct watch_deltas *d, const struct watch_record *r,
		      const struct watch_ending *end)
{
	json_t *o = json_object();

	put(o, "schema", text("copyscope.watch-line/1"));
	put(o, "id", text(r->id));
	put(o, "interval", json_integer(d->number + 1));
	put_times(o, d, r);
	put(o, "ended_by", text_or_null(end->reason));
	put(o, "laws_broken", broken_json(r));
	put(o, "losses", losses_json(d, r));
	put(o, "total", total_json(d, r));
	put(o, "processes", processes_json(r));
	d->number++;
	return json_write_line(o, d->out);
}
