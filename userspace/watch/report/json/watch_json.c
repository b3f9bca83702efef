// SPDX-License-Identifier: GPL-2.0
/* Prints what a watch found as JSON, with the words of run records. */
#include "userspace/watch/report/json/watch_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "userspace/common/foreign.h"
#include "userspace/common/json/json.h"
#include "userspace/report/json/parts_json.h"
#include "userspace/watch/judge/watch_judge.h"
#include "userspace/watch/report/json/parts_json.h"
#include "userspace/watch/summary/names.h"
#include "userspace/watch/summary/sentence.h"

static int words_of(char **command)
{
	int words = 0;

	while (command && command[words])
		words++;
	return words;
}

/* The option that named the subject is its kind: "pid", "command". */
static json_t *subject_json(const struct watch_options *o, const struct watch_ending *end)
{
	static const char *const kinds[] = {
		[WATCH_PIDS] = "pids", [WATCH_COMM] = "comm", [WATCH_CGROUP] = "cgroup",
		[WATCH_NETNS] = "netns", [WATCH_PORTS] = "ports", [WATCH_ALL] = "all",
	};
	json_t *s = json_object();

	put(s, "kind", text(o->command ? "command" : kinds[o->subject.by]));
	put(s, "asked", text_or_null(o->whom_value ? foreign(o->whom_value) : NULL));
	put(s, "words", integer_if(o->command, words_of(o->command)));
	put(s, "exit_status", integer_if(end->status_known, end->status));
	return s;
}

static json_t *window_json(const struct watch_record *r, const struct watch_ending *end)
{
	return json_pack("{s:f, s:s}", "seconds", r->window_ns / 1e9, "ended_by",
			 end->reason ? end->reason : "nothing yet");
}

/* How each site of the whole is known, with the reason or the rule; no hook counts calls of sites. */
static json_t *total_sites_json(const struct watch_record *r)
{
	json_t *o = json_object();

	for (enum site s = 0; s < SITE_COUNT; s++)
		put(o, site_name(s), site_json(r->sites[s].how, r->sites[s].tally.bytes, NULL, r->sites[s].why));
	return o;
}

static json_t *count_whys_json(const struct watch_record *r)
{
	json_t *o = json_object();

	for (enum count c = 0; c < COUNT_COUNT; c++)
		if (*r->count_why[c])
			put(o, count_name(c), text(r->count_why[c]));
	return o;
}

static json_t *verdicts_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->process_count; i++) {
		const struct watch_process *p = &r->processes[i];
		char name[WATCH_NAME_BYTES], sentence[SENTENCE_BYTES];
		json_t *o = json_object();

		process_name(&p->id, p->comm, name);
		sentence_of_process(r, p, sentence);
		put(o, "pid", integer_if(p->id.pid, p->id.pid));
		put(o, "process", text(name));
		put(o, "verdict", text(verdict_name(p->verdict)));
		put(o, "sentence", text(sentence));
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *not_covered_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->gap_count; i++) {
		const struct watch_gap *g = &r->not_covered[i];
		json_t *o = json_pack("{s:s, s:b}", "what", g->what, "seen", g->seen);

		put(o, "sockets", integer_if(g->seen && g->sockets, g->sockets));
		put(o, "why", text(g->why));
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *overhead_json(const struct watch_overhead *w)
{
	json_t *o = json_object();

	put(o, "events", integer_if(w->known || w->events, w->events));
	put(o, "ns_per_event", real_if(w->known, w->ns_per_event));
	put(o, "share", real_if(w->known, w->share));
	put(o, "own_cpu_seconds", json_real(w->own_cpu_ns / 1e9));
	put(o, "memory_bytes", json_integer(w->memory_bytes));
	return o;
}

static json_t *losses_json(const struct watch_record *r)
{
	json_t *o = json_pack("{s:I, s:I, s:I}", "lost_events", (json_int_t)r->lost_events,
			      "unbooked_sockets", (json_int_t)r->unbooked_sockets, "folded_sockets",
			      (json_int_t)r->folded_sockets);
	char why[WHY_BYTES];

	put(o, "unseen_events", json_integer(r->unseen_events));
	put(o, "unopened_sockets", json_integer(r->unopened_sockets));
	put(o, "folded_processes", json_integer(r->folded_processes));
	put(o, "sums_short", text_or_null(watch_sums_short(r, why) ? why : NULL));
	return o;
}

/* Without the first @told of those that died, which are in the order in which they did. */
static json_t *sockets_json(const struct watch_record *r, int told)
{
	json_t *array = json_array();

	for (int i = 0; i < r->socket_count; i++)
		if (!r->sockets[i].died || told-- <= 0)
			json_array_append_new(array, watched_socket_json(r, &r->sockets[i]));
	return array;
}

static int died_of(const struct watch_record *r)
{
	int died = 0;

	for (int i = 0; i < r->socket_count; i++)
		died += r->sockets[i].died;
	return died;
}

static json_t *processes_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->process_count; i++)
		json_array_append_new(array, watched_process_json(r, &r->processes[i]));
	return array;
}

/* What is asked of the watch, up to the name of what it starts: the words after it may be secret. */
static json_t *command_json(char **command, const struct watch_options *o)
{
	json_t *words = json_array();

	for (; *command && command != o->command; command++)
		json_array_append_new(words, text(foreign(*command)));
	if (*command)
		json_array_append_new(words, text(foreign(*command)));
	return words;
}

/* Keys are in the order of this function. */
static json_t *record_of(const struct watch_record *r, const struct watch_options *o, char **command,
			 const struct watch_ending *end, int told)
{
	json_t *all = record_begin_json(r->id, r->started, command_json(command, o), &r->machine);

	put(all, "subject", subject_json(o, end));
	put(all, "window", window_json(r, end));
	put(all, "books", text(r->books == WATCH_CALLS ? "calls" : "sequence"));
	put(all, "detail", json_boolean(r->details));
	put(all, "backend", backend_json(r->backend, r->backend_why, r->probes, r->probe_count,
					 r->overhead.known));
	put(all, "sites", total_sites_json(r));
	put(all, "counts", watched_counts_json(&r->total.moved));
	put(all, "count_whys", count_whys_json(r));
	put(all, "causes", causes_json(r->causes, r->cause_count));
	put(all, "referenced_peak_pages", json_integer(r->referenced_peak_pages));
	put(all, "laws", laws_json(r->laws, WATCH_LAW_COUNT));
	put(all, "overhead", overhead_json(&r->overhead));
	put(all, "verdicts", verdicts_json(r));
	put(all, "losses", losses_json(r));
	put(all, "not_covered", not_covered_json(r));
	put(all, "total", watched_sum_json(r, &r->total));
	put(all, "processes", processes_json(r));
	put(all, "peers", watched_groups_json(&r->groups[WATCH_BY_PEER], WATCH_BY_PEER));
	put(all, "ports", watched_groups_json(&r->groups[WATCH_BY_PORT], WATCH_BY_PORT));
	put(all, "sockets", sockets_json(r, told));
	return all;
}

int watch_json_write(const struct watch_record *r, const struct watch_options *o, char **command,
		     const struct watch_ending *end, FILE *out)
{
	return json_write(record_of(r, o, command, end, 0), out);
}

int watch_json_line(struct watch_lines *l, const struct watch_record *r, const struct watch_options *o,
		    char **command, const struct watch_ending *end)
{
	int told = l->told;

	l->told = died_of(r);
	return json_write_line(record_of(r, o, command, end, end->reason ? 0 : told), l->out);
}
