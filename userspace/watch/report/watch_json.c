// SPDX-License-Identifier: GPL-2.0
/* Writes the record of a watch. */
#include "userspace/watch/report/watch_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/printable.h"
#include "userspace/common/json.h"
#include "userspace/judge/causes.h"
#include "userspace/report/parts_json.h"
#include "userspace/watch/books/watch_judge.h"
#include "userspace/watch/report/figures.h"
#include "userspace/watch/report/names.h"
#include "userspace/watch/report/sockets_json.h"
#include "userspace/watch/report/stacks_json.h"

/* What may hold any byte is shown as reports show it: JSON has UTF-8 alone. */
static json_t *name_json(void (*name)(const struct watch_address *, char *),
			 const struct watch_address *a)
{
	char shown[WATCH_NAME_BYTES];

	name(a, shown);
	return text(shown);
}

static json_t *comm_json(const char *comm)
{
	char shown[WATCH_NAME_BYTES];

	comm_name(comm, shown);
	return text(shown);
}

static json_t *pid_json(const struct watch_process_id *id)
{
	return integer_if(id->pid, id->pid);
}

json_t *cgroup_json(const struct watch_record *r, uint64_t cgroup)
{
	char shown[WATCH_NAME_BYTES];

	if (!cgroup)
		return json_null();
	cgroup_name(r, cgroup, shown);
	return text(shown);
}

void put_moved(json_t *o, const struct watch_record *r, const struct watch_movements *m)
{
	enum how how[SITE_COUNT];

	for (enum site s = 0; s < SITE_COUNT; s++)
		how[s] = m->sites_known >> s & 1 ? watch_site_how(r, s) : HOW_NOT_MEASURED;
	put_books(o, &m->books, how, m->counts_known, false);
}

static json_t *balance_json(const struct watch_balance *b)
{
	json_t *o = json_object();

	for (enum watch_balance_item i = 0; i < WATCH_BALANCE_COUNT; i++)
		put(o, watch_balance_name(i), integer_if(b->known >> i & 1, b->item[i]));
	return o;
}

/* What became of the bytes that were to go without a copy, and what was received without one. */
static json_t *fate_json(const struct watch_record *r, const struct watch_movements *m)
{
	uint32_t sites = 1u << SITE_tx_reference | 1u << SITE_tx_splice;
	bool known = (m->sites_known & sites) == sites;
	json_t *o = json_object();

	put(o, "uncopied_bytes", integer_if(known, m->fate.uncopied));
	put(o, "copied_later_bytes", integer_if(known, m->fate.later));
	put(o, "unknown_bytes", integer_if(known, m->fate.unknown));
	put(o, "held_bytes", integer_if(known, m->fate.held));
	put(o, "unwatched_bytes", integer_if(known, m->fate.unwatched));
	put(o, "unseen_most_bytes", integer_if(known, watch_unseen_most(r, &m->fate)));
	put(o, "passed_on_bytes", integer_if(!m->passed_unknown, m->passed_bytes));
	put(o, "declined_bytes", integer_if(!m->declined_unknown, m->declined_bytes));
	return o;
}

/* There if a send of datagrams failed. */
static void failed_put(json_t *into, const struct watch_record *r, const struct watch_movements *m)
{
	json_t *o = json_object();

	for (enum watch_failure error = 0; error < WATCH_FAILURE_COUNT; error++)
		if (m->failed_sends[error])
			put(o, watch_failure_name(error), json_integer(m->failed_sends[error]));
	if (json_object_size(o))
		put(into, "failed_sends", o);
	else
		json_decref(o);
	if (m->failed_sends[WATCH_FAILURE_EIO])
		put(into, "failed_bytes", integer_if(r->backend == BACKEND_TRAMPOLINE, m->failed_bytes));
}

static json_t *other_json(const struct watch_sum *sum)
{
	json_t *array = json_array();

	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++) {
		const struct watch_other *other = &sum->other[layer];
		json_t *o;

		if (!other->sockets)
			continue;
		o = json_pack("{s:s}", "layer", watch_layer_key(layer));
		put(o, "sockets", json_integer(other->sockets));
		put(o, "sent_bytes", json_integer(other->sent_bytes));
		put(o, "received_bytes", json_integer(other->received_bytes));
		json_array_append_new(array, o);
	}
	return array;
}

static void put_movements(json_t *o, const struct watch_record *r, const struct watch_balance *opening,
			  const struct watch_balance *closing, const struct watch_movements *moved)
{
	put(o, "opening", balance_json(opening));
	put(o, "closing", balance_json(closing));
	put_moved(o, r, moved);
	put(o, "fate", fate_json(r, moved));
	if (moved->unseen_completions)
		put(o, "unseen_completions", json_integer(moved->unseen_completions));
	if (moved->spliced_in_kernel)
		put(o, "spliced_in_kernel_bytes", json_integer(moved->spliced_in_kernel));
	if (causes_refused_at_rest(moved))
		put(o, "refused_at_rest_sends", json_integer(causes_refused_at_rest(moved)));
	failed_put(o, r, moved);
}

json_t *watched_causes_json(const struct watch_movements *moved)
{
	struct cause causes[CAUSES_OF_MOVEMENTS];

	return causes_json(causes, causes_of_movements(moved, causes));
}

static json_t *socket_laws_json(const struct watch_socket *s)
{
	json_t *o = json_object();

	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++) {
		const struct watch_sides *sides = &s->laws[l];
		json_t *law = json_pack("{s:s}", "status", law_status_name(watch_law_status(sides)));

		put_sides(law, sides->known, sides->left, sides->right, sides->left - sides->right, sides->why);
		put(o, watch_law_name(l), law);
	}
	return o;
}

json_t *watch_laws_json(uint32_t laws)
{
	json_t *array = json_array();

	for (enum watch_law l = 0; l < WATCH_LAW_COUNT; l++)
		if (laws >> l & 1)
			json_array_append_new(array, text(watch_law_name(l)));
	return array;
}

void put_watched_name(json_t *o, const struct watch_process_id *id, const char *comm)
{
	put(o, "pid", pid_json(id));
	put(o, "comm", comm_json(comm));
}

void put_listener(json_t *o, const struct watch_process_id *id)
{
	if (id->listener)
		put(o, "listener_pid", json_integer(id->listener));
}

void put_service(json_t *o, const struct watch_record *r, const struct watch_process *p)
{
	put(o, "pid", pid_json(&p->id));
	put_listener(o, &p->id);
	put(o, "comm", comm_json(p->comm));
	put(o, "uid", integer_if(p->cgroup, p->uid));
	put(o, "cgroup", cgroup_json(r, p->cgroup));
}

void put_ends(json_t *o, const struct watch_socket *s)
{
	put(o, "local", name_json(address_name, &s->local));
	put(o, "remote", name_json(address_name, &s->remote));
}

static json_t *watched_socket_json(const struct watch_record *r, const struct watch_socket *s)
{
	const char *protocol = s->datagrams ? "udp" : "tcp";
	json_t *o = json_object();

	put(o, "cookie", cookie_json(s->cookie));
	put(o, "protocol", text(protocol));
	put_watched_name(o, &s->owner, s->comm);
	put_listener(o, &s->owner);
	put(o, "cgroup", cgroup_json(r, s->cgroup));
	put(o, "netns", integer_if(s->netns, s->netns));
	put_ends(o, s);
	put(o, "layer", text(s->datagrams && !s->layer ? protocol : watch_layer_key(s->layer)));
	put(o, "mptcp_token", integer_if(s->mptcp_token, s->mptcp_token));
	put(o, "whole", json_boolean(s->whole));
	put(o, "born", json_boolean(s->born));
	put(o, "died", json_boolean(s->died));
	put(o, "handed_on", json_boolean(s->handed_on));
	put_movements(o, r, &s->opening, &s->closing, &s->moved);
	put(o, "causes", watched_causes_json(&s->moved));
	put(o, "laws", socket_laws_json(s));
	return o;
}

static json_t *figure_json(struct figure f)
{
	return integer_if(f.known, f.bytes);
}

void put_row_figures(json_t *o, const struct watch_movements *m)
{
	put(o, "sent_bytes", figure_json(figure_sent(m)));
	put(o, "received_bytes", figure_json(figure_received(m)));
	put(o, "copied_bytes", figure_json(figure_copied(m)));
	put(o, "copied_least_bytes", json_integer(figure_copied(m).bytes));
	put(o, "uncopied_bytes", figure_json(figure_uncopied(m)));
	put(o, "needless_bytes", figure_json(figure_needless(m)));
}

/* A line of a table each, as there may be many. */
static json_t *watched_groups_json(const struct watch_groups *groups, enum watch_grouping by)
{
	json_t *array = json_array();

	for (int i = 0; i < groups->count; i++) {
		const struct watch_group *g = &groups->group[i];
		json_t *o = json_object();

		if (by == WATCH_BY_PEER)
			put(o, "peer", g->further ? json_null() : name_json(peer_name, &g->at));
		else
			put(o, "port", integer_if(!g->further, g->at.port));
		put(o, "sockets", json_integer(g->sockets));
		put(o, "other_sockets", json_integer(g->other_sockets));
		put_row_figures(o, &g->moved);
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *watched_sum_json(const struct watch_record *r, const struct watch_sum *sum)
{
	json_t *o = json_object();

	put(o, "sockets", json_integer(sum->sockets));
	put(o, "born", json_integer(sum->born));
	put(o, "died", json_integer(sum->died));
	put(o, "handed_on", json_integer(sum->handed_on));
	put(o, "other", other_json(sum));
	if (sum->sent_here_bytes)
		put(o, "sent_here_bytes", json_integer(sum->sent_here_bytes));
	put_movements(o, r, &sum->opening, &sum->closing, &sum->moved);
	return o;
}

static json_t *share_json(uint64_t samples, uint64_t softirq, uint64_t all)
{
	struct cpu_share s = cpu_share_of(samples, all);
	json_t *o = json_pack("{s:I, s:I}", "samples", (json_int_t)samples, "softirq_samples", (json_int_t)softirq);

	put(o, "share", json_real(s.share));
	put(o, "share_low", json_real(s.low));
	put(o, "share_high", json_real(s.high));
	return o;
}

static json_t *cpu_user_json(const struct watch_record *r, const struct cpu_use *use)
{
	json_t *o;

	if (!r->cpu_named)
		return json_null();
	o = json_object();
	for (enum cpu_user_kind kind = 0; kind < CPU_USER_KIND_COUNT; kind++)
		put(o, cpu_user_key(kind), share_json(use->user[kind], 0, use->all));
	return o;
}

/* Without those of no sample. */
static json_t *cpu_threads_json(const struct cpu_use *use)
{
	json_t *array = json_array();

	for (int i = 0; i < use->by_thread_count; i++) {
		const struct cpu_thread_use *t = &use->by_thread[i];
		json_t *o = json_object(), *classes = json_object();

		for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++)
			if (t->samples[c])
				put(classes, cpu_class_key(c), json_integer(t->samples[c]));
		put(o, "tid", integer_if(t->tid, t->tid));
		put(o, "comm", t->tid ? comm_json(t->comm) : json_null());
		put(o, "threads", json_integer(t->threads));
		put(o, "samples", json_integer(t->all));
		put(o, "copies", json_integer(cpu_copies(t->samples)));
		put(o, "classes", classes);
		json_array_append_new(array, o);
	}
	return array;
}

/* Of a process that no sample found there is none. */
static json_t *cpu_use_json(const struct watch_record *r, const struct cpu_use *use, enum law_status clock)
{
	json_t *o, *classes;

	if (!use->all)
		return json_null();
	classes = json_object();
	for (enum cpu_class c = 0; c < CPU_CLASS_COUNT; c++)
		put(classes, cpu_class_key(c), share_json(use->samples[c], use->softirq[c], use->all));
	o = json_pack("{s:I, s:I}", "samples", (json_int_t)use->all, "threads", (json_int_t)use->threads);
	put(o, "copies", share_json(cpu_copies(use->samples), cpu_copies(use->softirq), use->all));
	put(o, "sampled_seconds", json_real((double)use->periods / r->cpu_hz));
	put(o, "skipped_seconds", json_real((double)use->skipped / r->cpu_hz));
	put(o, "clock_seconds", json_real(use->run_ns / 1e9));
	put(o, "clock_law", text(law_status_name(clock)));
	put(o, "classes", classes);
	put(o, "user_space", cpu_user_json(r, use));
	put(o, "by_thread", cpu_threads_json(use));
	return o;
}

static json_t *cpu_json(const struct watch_record *r)
{
	json_t *o = json_pack("{s:I, s:I}", "hz", (json_int_t)r->cpu_hz, "lost_samples",
			      (json_int_t)r->cpu_lost);

	put(o, "clock", text_or_null(r->cpu_clock));
	put(o, "why", text_or_null(r->cpu_clock ? NULL : r->cpu_why));
	put(o, "names_why", text_or_null(*r->cpu_names_why ? r->cpu_names_why : NULL));
	return o;
}

static json_t *buckets_json(const struct size_bucket buckets[SIZE_BUCKETS])
{
	json_t *array = json_array();

	for (int i = 0; i < SIZE_BUCKETS; i++) {
		json_t *o;

		if (!buckets[i].calls)
			continue;
		o = json_object();
		put(o, "from_bytes", json_integer(bucket_from(i)));
		put(o, "below_bytes", json_integer(bucket_from(i + 1)));
		put(o, "calls", json_integer(buckets[i].calls));
		put(o, "bytes", json_integer(buckets[i].bytes));
		json_array_append_new(array, o);
	}
	return array;
}

json_t *call_sizes_json(const struct call_sizes *sizes)
{
	json_t *array = json_array();

	for (enum call_way way = 0; sizes && way < CALL_WAY_COUNT; way++) {
		json_t *o;

		if (!size_sum(sizes, way).calls)
			continue;
		o = json_object();
		put(o, "direction", text(call_way_direction(way)));
		put(o, "way", text(call_way_key(way)));
		put(o, "buckets", buckets_json(sizes->bucket[way]));
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *hold_range_json(const struct hold_times *times, double share)
{
	int at = hold_bucket(times, share);
	json_t *o = json_object();

	put(o, "from_ns", json_integer(bucket_from(at)));
	put(o, "below_ns", json_integer(bucket_from(at + 1)));
	return o;
}

json_t *hold_buckets_json(const unsigned long long buckets[HOLD_BUCKETS])
{
	json_t *array = json_array();

	for (int i = 0; i < HOLD_BUCKETS; i++) {
		json_t *bucket;

		if (!buckets[i])
			continue;
		bucket = json_object();
		put(bucket, "from_ns", json_integer(bucket_from(i)));
		put(bucket, "below_ns", json_integer(bucket_from(i + 1)));
		put(bucket, "sends", json_integer(buckets[i]));
		json_array_append_new(array, bucket);
	}
	return array;
}

/* Times are exact at both ends, and between them by bucket. */
static json_t *hold_times_json(const struct hold_times *times)
{
	json_t *o = json_object();

	put(o, "sends", json_integer(times->sends));
	put(o, "shortest_ns", integer_if(times->sends, ~times->shortest_less));
	put(o, "longest_ns", integer_if(times->sends, times->longest_ns));
	put(o, "median", times->sends ? hold_range_json(times, 0.5) : json_null());
	put(o, "p99", times->sends ? hold_range_json(times, 0.99) : json_null());
	put(o, "buckets", hold_buckets_json(times->bucket));
	return o;
}

/* Of a process that made no such send there are none. */
static json_t *holds_json(const struct call_holds *h, bool readings_known)
{
	json_t *o;

	if (!h || !hold_was_any(h))
		return json_null();
	o = json_object();
	put(o, "notified", hold_times_json(&h->posted));
	put(o, "read", readings_known ? hold_times_json(&h->read) : json_null());
	put(o, "ended_by", json_pack("{s:I, s:I, s:I, s:I}", "acknowledgment", (json_int_t)h->released, "copy",
				     (json_int_t)h->copied, "close", (json_int_t)h->closed, "untold",
				     (json_int_t)h->untold));
	put(o, "by_ring", json_integer(h->by_ring));
	put(o, "rings_missed", json_boolean(h->rings_missed));
	put(o, "outstanding", json_integer(h->outstanding));
	put(o, "outstanding_most", json_integer(hold_most(h)));
	put(o, "untimed_sends", json_integer(h->untimed));
	return o;
}

static json_t *sizes_json(const struct watch_sizes *s)
{
	json_t *o = json_object();

	put(o, "told_bytes", json_integer(s->told_bytes));
	put(o, "returned_bytes", json_integer(s->returned_bytes));
	put(o, "further", call_sizes_json(s->all));
	put(o, "unsized_calls", json_integer(s->unsized_calls));
	put(o, "receives_by_pages", json_boolean(s->receives_known));
	return o;
}

static json_t *watched_process_json(const struct watch_record *r, const struct watch_process *p)
{
	json_t *o = json_object();

	put_service(o, r, p);
	put(o, "joined", json_boolean(p->joined));
	put(o, "ended", json_boolean(p->ended));
	put(o, "laws_broken", watch_laws_json(p->sum.laws_broken));
	put(o, "sum", watched_sum_json(r, &p->sum));
	put(o, "causes", watched_causes_json(&p->sum.moved));
	if (r->cpu_hz)
		put(o, "cpu", cpu_use_json(r, &p->cpu, p->cpu_clock));
	if (r->sizes.all)
		put(o, "sizes", call_sizes_json(p->sizes));
	if (r->sizes.all)
		put(o, "holds", holds_json(p->holds, r->sizes.readings_known));
	return o;
}

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
	bool several = o->subject.kinds & (o->subject.kinds - 1);
	json_t *s = json_object();

	put(s, "kind", text(o->command ? "command" : several ? "several" : kinds[o->subject.by]));
	put(s, "asked", text_or_null(*o->asked ? printable(o->asked) : NULL));
	put(s, "words", integer_if(o->command, words_of(o->command)));
	put(s, "exit_status", integer_if(end->status_known, end->status));
	return s;
}

static json_t *count_whys_json(const struct watch_record *r)
{
	json_t *o = json_object();

	for (enum count c = 0; c < COUNT_COUNT; c++)
		if (*r->count_why[c])
			put(o, count_name(c), text(r->count_why[c]));
	return o;
}

/* Does the record have a group of this container's? */
static bool has_container(const struct watch_record *r, const char *id)
{
	for (int i = 0; i < r->cgroup_count; i++)
		if (id && strstr(r->cgroups[i].path, id))
			return true;
	return false;
}

static bool has_user(const struct watch_record *r, const char *uid)
{
	uint64_t number = uid ? strtoull(uid, NULL, 10) : UINT64_MAX;

	for (int i = 0; i < r->process_count; i++)
		if (r->processes[i].uid == number)
			return true;
	return false;
}

/* Of the names that were told those of containers and users that the record has. */
static json_t *names_of(const struct watch_record *r, json_t *told)
{
	json_t *containers = json_array(), *users = json_object(), *each;
	const char *uid;
	size_t i;

	json_array_foreach(json_object_get(told, "containers"), i, each)
		if (has_container(r, json_string_value(json_object_get(each, "id"))))
			json_array_append(containers, each);
	json_object_foreach(json_object_get(told, "users"), uid, each)
		if (has_user(r, uid))
			json_object_set(users, uid, each);
	return json_pack("{s:o, s:o}", "containers", containers, "users", users);
}

static json_t *verdicts_json(const struct watch_record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->process_count; i++) {
		const struct watch_process *p = &r->processes[i];
		char name[WATCH_NAME_BYTES];
		json_t *o = json_object();

		process_name(&p->id, p->comm, name);
		put(o, "pid", integer_if(p->id.pid, p->id.pid));
		put(o, "process", text(name));
		put(o, "verdict", text(verdict_name(p->verdict)));
		json_array_append_new(array, o);
	}
	return array;
}

static json_t *mptcp_json(const struct watch_record *r)
{
	json_t *array = json_array();
	struct watch_mptcp *all;
	int count = watch_mptcp_sums(r, &all);

	for (int i = 0; i < count; i++) {
		json_t *o = json_object();

		put(o, "token", json_integer(all[i].token));
		put(o, "netns", integer_if(all[i].netns, all[i].netns));
		put_watched_name(o, &all[i].owner, all[i].comm);
		put(o, "subflows", json_integer(all[i].subflows));
		put(o, "sent_bytes", json_integer(all[i].sent_bytes));
		put(o, "received_bytes", json_integer(all[i].received_bytes));
		json_array_append_new(array, o);
	}
	free(all);
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

	put(o, "events", integer_if(w->programs.events, w->programs.events));
	put(o, "ns_per_event", real_if(w->programs.known, w->programs.ns_per_event));
	put(o, "share", real_if(w->programs.known, w->programs.share));
	put(o, "own_cpu_seconds", json_real(w->own_cpu_ns / 1e9));
	put(o, "memory_bytes", json_integer(w->memory_bytes));
	return o;
}

/* null: not measured. */
static json_t *refused_json(const struct watch_record *r)
{
	json_t *all = *r->refused_why ? json_null() : json_array();

	for (enum watch_request request = 0; request < WATCH_REQUEST_COUNT && json_is_array(all); request++)
		if (r->refused[request])
			json_array_append_new(all, json_pack("{s:s, s:I, s:s}", "request", watch_request_name(request), "calls",
							     (json_int_t)r->refused[request], "last_error",
							     strerrorname_np(r->refused_error[request]) ?: "another error"));
	return all;
}

static json_t *losses_json(const struct watch_record *r)
{
	json_t *o = json_pack("{s:I, s:I, s:I}", "lost_events", (json_int_t)r->lost_events,
			      "unbooked_sockets", (json_int_t)r->unbooked_sockets, "folded_sockets",
			      (json_int_t)r->folded_sockets);
	char why[WHY_BYTES];

	put(o, "unbooked_why", text_or_null(*r->unbooked_why ? r->unbooked_why : NULL));
	put(o, "unseen_events", json_integer(r->unseen_events));
	put(o, "unseen_may_be_closed", json_boolean(r->unseen_may_be_closed));
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
		json_array_append_new(words, text(printable(*command)));
	if (*command)
		json_array_append_new(words, text(printable(*command)));
	return words;
}

/* Keys are in the order of this function. Takes @sockets over. */
static json_t *record_of(const struct watch_record *r, const struct watch_options *o, char **command,
			 const struct watch_ending *end, json_t *sockets)
{
	struct record_begin begin = {
		.command = command_json(command, o),
		.subject = subject_json(o, end),
		.ended_by = end->reason ? end->reason : "nothing yet",
		.books = r->books == WATCH_CALLS ? "calls" : "sequence",
		.details = r->details,
		.timed = r->overhead.programs.known,
	};
	json_t *all = record_begin_json(&r->measured, &begin);

	put(all, "report", json_pack("{s:s, s:s, s:i}", "by", watch_rows_names[o->rows], "sort", watch_order_names[o->order],
				     "top", o->top));
	if (o->names)
		put(all, "names", names_of(r, o->names));
	put(all, "sites", sites_json(r->sites, false));
	put(all, "counts", counts_json(r->total.moved.counts_known, r->total.moved.count));
	put(all, "count_whys", count_whys_json(r));
	put(all, "causes", causes_json(r->causes, r->cause_count));
	put(all, "referenced_peak_pages", json_integer(r->referenced_peak_pages));
	put(all, "laws", laws_json(&r->measured));
	put(all, "overhead", overhead_json(&r->overhead));
	put(all, "verdicts", verdicts_json(r));
	put(all, "losses", losses_json(r));
	put(all, "refused_requests", refused_json(r));
	put(all, "not_covered", not_covered_json(r));
	put(all, "mptcp", mptcp_json(r));
	put(all, "mptcp_copied_bytes", integer_if(!*r->mptcp_why, r->mptcp_copied));
	put(all, "mptcp_copied_why", text_or_null(*r->mptcp_why ? r->mptcp_why : NULL));
	if (r->cpu_hz)
		put(all, "cpu", cpu_json(r));
	if (r->sizes.asked)
		put(all, "sizes", r->sizes.all ? sizes_json(&r->sizes) : json_null());
	if (r->stacks_asked)
		put(all, "stacks", stacks_json(r));
	put(all, "total", watched_sum_json(r, &r->total));
	put(all, "processes", processes_json(r));
	put(all, "peers", watched_groups_json(&r->groups[WATCH_BY_PEER], WATCH_BY_PEER));
	put(all, "ports", watched_groups_json(&r->groups[WATCH_BY_PORT], WATCH_BY_PORT));
	put(all, "socket_sums", socket_sums_json(r));
	put(all, "sockets", sockets);
	return all;
}

json_t *watch_json(const struct watch_record *r, const struct watch_options *o, char **command,
		   const struct watch_ending *end)
{
	return record_of(r, o, command, end, sockets_json(r, 0));
}

/* Of more nobody reads the record line by line, and blanks are two fifths of it. */
enum { INDENTED_SOCKETS = 1000 };

int watch_json_write(const struct watch_record *r, const struct watch_options *o, char **command,
		     const struct watch_ending *end, FILE *out)
{
	json_t *whole = watch_json(r, o, command, end);

	return r->socket_count > INDENTED_SOCKETS ? json_write_line(whole, out) : json_write(whole, out);
}

json_t *watch_report_json(const struct watch_record *r, const struct watch_options *o, char **command,
			  const struct watch_ending *end)
{
	json_t *sockets = json_array(), *all;
	bool *named = sockets_named(r, o);

	for (int i = 0; named && i < r->socket_count; i++)
		if (named[i])
			json_array_append_new(sockets, watched_socket_json(r, &r->sockets[i]));
	free(named);
	all = record_of(r, o, command, end, sockets);
	put(all, "sockets_left_out", json_integer(r->socket_count - json_array_size(sockets)));
	return all;
}

int watch_json_line(struct watch_lines *l, const struct watch_record *r, const struct watch_options *o,
		    char **command, const struct watch_ending *end)
{
	int told = l->told;

	l->told = died_of(r);
	return json_write_line(record_of(r, o, command, end, sockets_json(r, end->reason ? 0 : told)), l->out);
}
