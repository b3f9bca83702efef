// SPDX-License-Identifier: GPL-2.0
/* Writes and reads one host's half of a record as JSON. */
#include "userspace/peer/half.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/foreign.h"
#include "userspace/common/json.h"
#include "userspace/engine/hooks.h"
#include "userspace/report/record_json.h"
#include "userspace/run/ends/app_totals.h"

static void put_counts(json_t *o, const struct app_socket *s)
{
	put(o, "messages", json_integer(s->messages));
	put(o, "accepted_bytes", json_integer(s->accepted_bytes));
	put(o, "received_bytes", json_integer(s->received_bytes));
	put(o, "gather_bytes", json_integer(s->gather_bytes));
	put(o, "zerocopy_sends", json_integer(s->zerocopy_sends));
	put(o, "completions", json_integer(s->completions));
	put(o, "completions_copied", json_integer(s->completions_copied));
	put(o, "enobufs", json_integer(s->enobufs));
	put(o, "content_errors", json_integer(s->content_errors));
	put(o, "tcp_accepted_bytes", integer_if(s->tcp_known, s->tcp_accepted_bytes));
	put(o, "tcp_returned_bytes", integer_if(s->tcp_known, s->tcp_returned_bytes));
	put(o, "tcp_retransmitted_bytes", integer_if(s->tcp_known, s->tcp_retransmitted_bytes));
}

static json_t *connection_json(const struct app_socket *s)
{
	json_t *o = json_pack("{s:o, s:s, s:s}", "cookie", cookie_json(s->cookie), "local", s->local,
			      "remote", s->remote);

	put_counts(o, s);
	if (s->latency_known)
		put(o, "latency_ns", json_pack("{s:f}", "mean", s->latency_mean_us * 1000));
	return o;
}

/* The workload's totals, in the form that it prints itself; null if it left none. */
static json_t *app_json(const struct app_totals *app)
{
	json_t *o = app->known ? json_object() : json_null(), *connections = json_array();
	const struct latency *l = &app->latency;

	for (int i = 0; app->known && i < app->socket_count; i++)
		json_array_append_new(connections, connection_json(&app->sockets[i]));
	if (!app->known) {
		json_decref(connections);
		return o;
	}
	put_counts(o, &app->sum);
	if (!app->completions_read)
		put(o, "completions", json_null());
	if (app->content_unchecked)
		put(o, "content_errors", json_null());
	put(o, "elapsed_ns", json_integer(app->elapsed_ns));
	if (l->known)
		put(o, "latency_ns", json_pack("{s:s, s:f, s:f, s:f}", "what", l->what, "mean",
					       l->mean_us * 1000, "p50", l->p50_us * 1000, "p99",
					       l->p99_us * 1000));
	put(o, "connections", connections);
	return o;
}

json_t *peer_half_json(const struct record *r, enum end end)
{
	const struct experiment *x = r->experiment;
	json_t *record = record_json(r), *stacks = json_array();

	/* It may contain any character, and the other host does not need it. */
	json_object_del(record, "command");
	for (int i = 0; i < r->derived.stack_count; i++) {
		const struct copy_stack *s = &r->derived.stacks[i];

		json_array_append_new(stacks, json_pack("{s:i, s:i, s:s, s:I, s:I}", "site", s->site,
							"circumstances", s->circumstances, "frames",
							s->frames, "bytes", (json_int_t)s->tally.bytes,
							"calls", (json_int_t)s->tally.calls));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:i, s:o, s:b, s:i, s:s}", "end",
			 end == END_SENDER ? "sender" : "receiver", "record", record, "stacks", stacks,
			 "app", app_json(&x->app[end]), "lost_updates",
			 (json_int_t)r->derived.gauges.lost_updates, "pid", x->app[end].pid,
			 "ended", end_outcome_json(&x->ends.end[end]), "fifo", x->fifo, "interrupted",
			 x->ends.interrupt_signal, "failure", x->ends.failure);
}

/* Reads the other host's half of a record: the type of each key, and the range of each number. */

/* The state of reading one document: the first fault fails all of it. */
struct reading {
	bool wrong;
};

static json_t *member(struct reading *in, const json_t *o, const char *key)
{
	json_t *value = json_object_get(o, key);

	in->wrong |= !value;
	return value;
}

/* null becomes 0: another key tells whether it is known. */
static uint64_t up_to(struct reading *in, const json_t *o, const char *key, uint64_t most)
{
	json_t *value = member(in, o, key);
	uint64_t number = json_integer_value(value);

	in->wrong |= (!json_is_integer(value) && !json_is_null(value)) || number > most;
	return in->wrong ? 0 : number;
}

/* Thousands of these can be added. */
static uint64_t whole(struct reading *in, const json_t *o, const char *key)
{
	return up_to(in, o, key, SOUND_MOST);
}

static int small(struct reading *in, const json_t *o, const char *key)
{
	return up_to(in, o, key, INT_MAX);
}

/* Of a clock, or of a counter of the processor. */
static uint64_t time_ns(struct reading *in, const json_t *o, const char *key)
{
	uint64_t ns = up_to(in, o, key, UINT64_MAX);

	in->wrong |= !sound_time_ns(ns);
	return in->wrong ? 0 : ns;
}

static bool truth(struct reading *in, const json_t *o, const char *key)
{
	json_t *value = member(in, o, key);

	in->wrong |= !json_is_boolean(value);
	return json_is_true(value);
}

/* null becomes an empty text. */
static void words(struct reading *in, const json_t *o, const char *key, char *to, size_t size)
{
	json_t *value = member(in, o, key);
	const char *text = json_string_value(value);

	in->wrong |= (!text && !json_is_null(value)) || (text && strlen(text) >= size);
	if (!in->wrong)
		snprintf(to, size, "%s", text ? text : "");
}

/* The index of a name among @count; wrong if it is none of them. */
static int number_of(struct reading *in, const json_t *o, const char *key,
		     const char *(*name)(int), int count)
{
	const char *text = json_string_value(member(in, o, key));

	for (int i = 0; text && i < count; i++)
		if (!strcmp(text, name(i)))
			return i;
	in->wrong = true;
	return 0;
}

static const char *how_of(int how) { return how_name(how); }
static const char *backend_of(int backend) { return backend_name(backend); }

static void read_machine(struct reading *in, const json_t *o, struct machine *m)
{
	words(in, o, "kernel", m->kernel, sizeof(m->kernel));
	words(in, o, "arch", m->arch, sizeof(m->arch));
	words(in, o, "cpu_model", m->cpu_model, sizeof(m->cpu_model));
	words(in, o, "virt", m->virt, sizeof(m->virt));
	words(in, o, "lockdown", m->lockdown, sizeof(m->lockdown));
	m->cpus = small(in, o, "cpus");
	m->memory_bytes = whole(in, o, "memory_bytes");
	m->emulated = truth(in, o, "emulated");
}

static void read_path(struct reading *in, const json_t *o, struct path_info *p)
{
	words(in, o, "kind", p->kind, sizeof(p->kind));
	words(in, o, "tx_dev", p->tx_dev, sizeof(p->tx_dev));
	words(in, o, "rx_dev", p->rx_dev, sizeof(p->rx_dev));
	p->mtu = small(in, o, "mtu");
	p->scatter_gather = truth(in, o, "scatter_gather");
	p->tso = truth(in, o, "tso");
	p->hardware_dma = truth(in, o, "hardware_dma");
}

/* The question as the table of hooks has it, which outlives the document. */
static const char *metric_of(const char *text)
{
	for (const struct hook *hook = hooks; text && hook->program; hook++)
		if (!strcmp(hook->metric, text))
			return hook->metric;
	return NULL;
}

static void read_probe(struct reading *in, const json_t *o, struct probe *p)
{
	p->metric = metric_of(json_string_value(member(in, o, "site")));
	in->wrong |= !p->metric;
	words(in, o, "hook", p->hook, sizeof(p->hook));
	words(in, o, "why", p->why, sizeof(p->why));
	p->status = number_of(in, o, "status", probe_status_name, PROBE_ATTACHED + 1);
	p->runs = whole(in, o, "runs");
	p->run_time_ns = time_ns(in, o, "run_time_ns");
	p->missed_runs = whole(in, o, "missed_runs");
	p->missed_hits = whole(in, o, "unseen_firings");
	p->perf_checked = json_is_integer(json_object_get(o, "unseen_firings"));
}

static void read_backend(struct reading *in, const json_t *o, struct record *r)
{
	json_t *probes = member(in, o, "probes");

	r->backend = number_of(in, o, "name", backend_of, BACKEND_NONE + 1);
	words(in, o, "why", r->backend_why, sizeof(r->backend_why));
	in->wrong |= !json_is_array(probes) || json_array_size(probes) > PROBES_MAX;
	for (size_t i = 0; !in->wrong && i < json_array_size(probes); i++) {
		const json_t *each = json_array_get(probes, i);

		r->stats_known |= json_is_integer(json_object_get(each, "runs"));
		read_probe(in, each, &r->probes[r->probe_count++]);
	}
}

static void read_sites(struct reading *in, const json_t *o, struct record *r)
{
	for (enum site s = 0; s < SITE_COUNT; s++) {
		const json_t *each = member(in, o, site_name(s));
		struct site_value *v = &r->sites[s];

		v->how = number_of(in, each, "how", how_of, HOW_DERIVED + 1);
		v->tally.bytes = whole(in, each, "bytes");
		v->tally.calls = whole(in, each, "calls");
		words(in, each, "why", v->why, sizeof(v->why));
		r->derived.total.site[s] = v->tally;
	}
}

static void read_counts(struct reading *in, const json_t *o, struct books *b)
{
	for (enum count c = 0; c < COUNT_COUNT; c++)
		b->count[c] = whole(in, o, count_name(c));
}

static void read_socket(struct reading *in, const json_t *o, struct socket_books *s)
{
	const json_t *sites = member(in, o, "sites");

	s->cookie = cookie_of(member(in, o, "cookie"));
	in->wrong |= !s->cookie;
	read_counts(in, member(in, o, "counts"), &s->books);
	for (enum site i = 0; i < SITE_COUNT; i++) {
		const json_t *each = member(in, sites, site_name(i));

		s->books.site[i].bytes = whole(in, each, "bytes");
		s->books.site[i].calls = whole(in, each, "calls");
	}
}

static void read_sockets(struct reading *in, const json_t *array, enum end end, struct ledger *ledger)
{
	size_t count = json_array_size(array);

	in->wrong |= !json_is_array(array) || count > HALF_SOCKETS_MAX;
	if (in->wrong)
		return;
	ledger->sockets = calloc(count ? count : 1, sizeof(*ledger->sockets));
	in->wrong |= !ledger->sockets;
	for (size_t i = 0; !in->wrong && i < count; i++) {
		ledger->sockets[i].host = end;
		read_socket(in, json_array_get(array, i), &ledger->sockets[i]);
		ledger->socket_count++;
	}
}

static void read_pins(struct reading *in, const json_t *o, struct pins *p)
{
	const json_t *released = member(in, o, "released_pages"), *peak = member(in, o, "peak_pages");

	p->how = number_of(in, o, "how", how_of, HOW_DERIVED + 1);
	p->released_how = json_is_integer(released) ? p->how : HOW_NOT_MEASURED;
	p->peak_how = json_is_integer(peak) ? p->how : HOW_NOT_MEASURED;
	p->pages = whole(in, o, "pages");
	p->released_pages = whole(in, o, "released_pages");
	p->peak_pages = whole(in, o, "peak_pages");
	words(in, o, "why", p->why, sizeof(p->why));
}

/* Parts of hybrid processors stay in the record of their own host. */
static void read_counters(struct reading *in, const json_t *o, struct counter_value *values)
{
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const json_t *each = member(in, o, counter_name(i));
		struct counter_value *v = &values[i];

		v->value = time_ns(in, each, "value");
		v->known = json_is_integer(json_object_get(each, "value"));
		v->scaled = truth(in, each, "scaled");
		v->running_share = json_number_value(member(in, each, "running_share"));
		in->wrong |= !sound_real(v->running_share, 1);
		words(in, each, "why", v->why, sizeof(v->why));
		v->parts = 1;
	}
}

static void read_stacks(struct reading *in, const json_t *array, struct ledger *ledger)
{
	size_t count = json_array_size(array);

	in->wrong |= !json_is_array(array) || count > STACKS_MAX;
	if (!in->wrong)
		ledger->stacks = calloc(count + 1, sizeof(*ledger->stacks));
	in->wrong |= !ledger->stacks;
	for (size_t i = 0; !in->wrong && i < count; i++) {
		const json_t *each = json_array_get(array, i);
		struct copy_stack *stack = &ledger->stacks[ledger->stack_count++];

		stack->site = up_to(in, each, "site", SITE_COUNT - 1);
		stack->circumstances = up_to(in, each, "circumstances", UINT32_MAX);
		words(in, each, "frames", stack->frames, sizeof(stack->frames));
		stack->tally.bytes = whole(in, each, "bytes");
		stack->tally.calls = whole(in, each, "calls");
	}
}

static void read_app(struct reading *in, const json_t *o, struct app_totals *app)
{
	const json_t *totals = member(in, o, "app");

	app->pid = small(in, o, "pid");
	/* null: the workload died and printed nothing. */
	if (!json_is_null(totals))
		in->wrong |= app_totals_read(totals, app) || !app_totals_sound(app, app->sockets);
}

static void read_ended(struct reading *in, const json_t *o, struct end_outcome *end)
{
	end->exit_status = up_to(in, o, "exit_status", UINT8_MAX);
	end->signal = up_to(in, o, "signal", NSIG - 1);
	end->known = end->exit_status || end->signal ||
		     json_is_integer(json_object_get(o, "exit_status"));
}

static void read_experiment(struct reading *in, const json_t *o, enum end end, struct experiment *x)
{
	json_t *record = member(in, o, "record");
	const char *name = end == END_SENDER ? "sender" : "receiver";
	const char *said = json_string_value(member(in, o, "end"));
	const json_t *arranged = member(in, record, "experiment");

	in->wrong |= !said || strcmp(said, name);
	x->attempt = small(in, arranged, "attempt");
	read_path(in, member(in, arranged, "path"), &x->path);
	read_counters(in, member(in, member(in, arranged, "counters"), name), x->counters[end]);
	read_app(in, o, &x->app[end]);
	read_ended(in, member(in, o, "ended"), &x->ends.end[end]);
	words(in, o, "failure", x->ends.failure, sizeof(x->ends.failure));
	x->ends.interrupt_signal = up_to(in, o, "interrupted", NSIG - 1);
	x->fifo = truth(in, o, "fifo");
}

int half_read(const json_t *o, enum end end, struct record *r)
{
	struct reading in = { .wrong = !json_is_object(o) };
	const json_t *record = member(&in, o, "record");
	const json_t *timing = member(&in, member(&in, record, "experiment"), "timing");

	if (record_arrange(r))
		return -ENOMEM;
	read_machine(&in, member(&in, record, "machine"), &r->machine);
	read_backend(&in, member(&in, record, "backend"), r);
	read_sites(&in, member(&in, record, "sites"), r);
	read_counts(&in, member(&in, record, "counts"), &r->derived.total);
	read_sockets(&in, member(&in, record, "sockets"), end, &r->derived);
	read_pins(&in, member(&in, record, "pins"), &r->pins);
	read_stacks(&in, member(&in, o, "stacks"), &r->derived);
	read_experiment(&in, o, end, r->experiment);
	r->window_ns = time_ns(&in, timing, "window_ns");
	r->derived.gauges.first_byte_ns = time_ns(&in, timing, "first_byte_monotonic_ns");
	r->derived.gauges.peak_pages = r->pins.peak_pages;
	r->derived.gauges.lost_updates = whole(&in, o, "lost_updates");
	return in.wrong ? -EBADMSG : 0;
}
