// SPDX-License-Identifier: GPL-2.0
/* Writes and reads one host's half of a record as JSON. */
#include "userspace/peer/half.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/json.h"
#include "userspace/common/json_read.h"
#include "userspace/engine/hooks.h"
#include "userspace/judge/sites.h"
#include "userspace/report/record_json.h"
#include "userspace/run/ends/app_totals.h"

json_t *peer_half_json(const struct record *r, enum end end, json_t *totals)
{
	const struct experiment *x = r->experiment;
	json_t *record = record_json(r), *stacks = json_array(), *unscattered = json_array();

	/* It may contain any character, and the other host does not need it. */
	json_object_del(record, "command");
	for (int i = 0; i < r->derived.stack_count; i++) {
		const struct copy_stack *s = &r->derived.stacks[i];

		json_array_append_new(stacks, json_pack("{s:i, s:i, s:s, s:I, s:I}", "site", s->site,
							"circumstances", s->circumstances, "frames",
							s->frames, "bytes", (json_int_t)s->tally.bytes,
							"calls", (json_int_t)s->tally.calls));
	}
	for (int i = 0; i < r->derived.socket_count; i++)
		json_array_append_new(unscattered, json_integer(r->derived.sockets[i].unscattered_sends));
	return json_pack("{s:o, s:o, s:o, s:o?, s:I, s:i, s:i, s:s}", "record", record, "stacks", stacks,
			 "unscattered_sends", unscattered, "app", totals, "lost_updates", (json_int_t)r->derived.gauges.lost_updates, "pid",
			 x->app[end].pid, "interrupted", x->ends.interrupt_signal, "failure", x->ends.failure);
}

/* Reads the other host's half of a record: the type of each key, and the range of each number. */

static const char *backend_of(int backend) { return backend_name(backend); }

static void read_machine(struct reading *in, const json_t *o, struct machine *m)
{
	get_text(in, o, "kernel", m->kernel, sizeof(m->kernel));
	get_text(in, o, "arch", m->arch, sizeof(m->arch));
	get_text(in, o, "cpu_model", m->cpu_model, sizeof(m->cpu_model));
	get_text(in, o, "virt", m->virt, sizeof(m->virt));
	get_text(in, o, "lockdown", m->lockdown, sizeof(m->lockdown));
	m->cpus = get_int(in, o, "cpus");
	m->memory_bytes = get_count(in, o, "memory_bytes");
	m->emulated = get_bool(in, o, "emulated");
}

static void read_path(struct reading *in, const json_t *o, struct path_info *p)
{
	get_text(in, o, "kind", p->kind, sizeof(p->kind));
	get_text(in, o, "tx_dev", p->tx_dev, sizeof(p->tx_dev));
	get_text(in, o, "rx_dev", p->rx_dev, sizeof(p->rx_dev));
	p->mtu = get_int(in, o, "mtu");
	p->scatter_gather = get_bool(in, o, "scatter_gather");
	p->tso = get_bool(in, o, "tso");
	p->hardware_dma = get_bool(in, o, "hardware_dma");
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
	p->metric = metric_of(json_string_value(get_member(in, o, "site")));
	in->wrong |= !p->metric;
	get_text(in, o, "hook", p->hook, sizeof(p->hook));
	get_text(in, o, "why", p->why, sizeof(p->why));
	p->status = get_name(in, o, "status", probe_status_name, PROBE_ATTACHED + 1);
	p->runs = get_count(in, o, "runs");
	p->run_time_ns = get_time_ns(in, o, "run_time_ns");
	p->missed_runs = get_count(in, o, "missed_runs");
	p->missed_hits = get_count(in, o, "unseen_firings");
	p->perf_checked = json_is_integer(json_object_get(o, "unseen_firings"));
}

static void read_backend(struct reading *in, const json_t *o, struct record *r)
{
	json_t *probes = get_member(in, o, "probes");

	r->backend = get_name(in, o, "name", backend_of, BACKEND_NONE + 1);
	get_text(in, o, "why", r->backend_why, sizeof(r->backend_why));
	in->wrong |= !json_is_array(probes) || json_array_size(probes) > PROBES_MAX;
	for (size_t i = 0; !in->wrong && i < json_array_size(probes); i++) {
		const json_t *each = json_array_get(probes, i);

		r->stats_known |= json_is_integer(json_object_get(each, "runs"));
		read_probe(in, each, &r->probes[r->probe_count++]);
	}
}

static void read_counts(struct reading *in, const json_t *o, struct books *b)
{
	for (enum count c = 0; c < COUNT_COUNT; c++)
		b->count[c] = get_count(in, o, count_name(c));
}

static const char *protocol_of(int datagrams) { return protocol_name(datagrams); }

static void read_socket(struct reading *in, const json_t *o, struct socket_books *s)
{
	const json_t *sites = get_member(in, o, "sites");

	s->cookie = cookie_of(get_member(in, o, "cookie"));
	in->wrong |= !s->cookie;
	s->datagrams = get_name(in, o, "protocol", protocol_of, 2);
	read_counts(in, get_member(in, o, "counts"), &s->books);
	for (enum site i = 0; i < SITE_COUNT; i++) {
		const json_t *each = get_member(in, sites, site_name(i));

		s->books.site[i].bytes = get_count(in, each, "bytes");
		s->books.site[i].calls = get_count(in, each, "calls");
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

static void read_unscattered(struct reading *in, const json_t *array, struct ledger *ledger)
{
	in->wrong |= json_array_size(array) != (size_t)ledger->socket_count;
	for (int i = 0; !in->wrong && i < ledger->socket_count; i++) {
		const json_t *each = json_array_get(array, i);
		uint64_t sends = json_integer_value(each);

		in->wrong |= !json_is_integer(each) || sends > COUNT_MOST;
		ledger->sockets[i].unscattered_sends = in->wrong ? 0 : sends;
	}
}

/* Parts of hybrid processors stay in the record of their own host. */
static void read_counters(struct reading *in, const json_t *o, struct counter_value *values)
{
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const json_t *each = get_member(in, o, counter_name(i));
		struct counter_value *v = &values[i];

		v->value = get_time_ns(in, each, "value");
		v->known = json_is_integer(json_object_get(each, "value"));
		v->scaled = get_bool(in, each, "scaled");
		v->running_share = get_real(in, each, "running_share", 1);
		get_text(in, each, "why", v->why, sizeof(v->why));
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

		stack->site = get_up_to(in, each, "site", SITE_COUNT - 1);
		stack->circumstances = get_up_to(in, each, "circumstances", UINT32_MAX);
		get_text(in, each, "frames", stack->frames, sizeof(stack->frames));
		stack->tally.bytes = get_count(in, each, "bytes");
		stack->tally.calls = get_count(in, each, "calls");
	}
}

static void read_app(struct reading *in, const json_t *o, struct app_totals *app)
{
	const json_t *totals = get_member(in, o, "app");

	app->pid = get_int(in, o, "pid");
	/* null: the workload died and printed nothing. */
	if (!json_is_null(totals))
		in->wrong |= app_totals_read(totals, app);
}

static void read_ended(struct reading *in, const json_t *o, struct end_outcome *end)
{
	end->exit_status = get_up_to(in, o, "exit_status", UINT8_MAX);
	end->signal = get_up_to(in, o, "signal", NSIG - 1);
	end->known = end->exit_status || end->signal ||
		     json_is_integer(json_object_get(o, "exit_status"));
}

static void read_experiment(struct reading *in, const json_t *o, enum end end, struct experiment *x)
{
	const char *name = end == END_SENDER ? "sender" : "receiver";
	const json_t *arranged = get_member(in, get_member(in, o, "record"), "experiment");

	x->attempt = get_int(in, arranged, "attempt");
	read_path(in, get_member(in, arranged, "path"), &x->path);
	read_counters(in, get_member(in, get_member(in, arranged, "counters"), name), x->counters[end]);
	read_app(in, o, &x->app[end]);
	read_ended(in, get_member(in, get_member(in, arranged, "outcome"), name), &x->ends.end[end]);
	get_text(in, o, "failure", x->ends.failure, sizeof(x->ends.failure));
	x->ends.interrupt_signal = get_up_to(in, o, "interrupted", NSIG - 1);
	x->fifo = json_object_get(get_member(in, arranged, "workload"), "scheduling");
}

int half_read(const json_t *o, enum end end, const struct workload_plan *plan, struct record *r)
{
	struct reading in = { .wrong = !json_is_object(o) };
	const json_t *record = get_member(&in, o, "record");
	const json_t *timing = get_member(&in, get_member(&in, record, "experiment"), "timing");

	if (record_arrange(r))
		return -ENOMEM;
	read_machine(&in, get_member(&in, record, "machine"), &r->machine);
	read_backend(&in, get_member(&in, record, "backend"), r);
	read_sockets(&in, get_member(&in, record, "sockets"), end, &r->derived);
	read_unscattered(&in, get_member(&in, o, "unscattered_sends"), &r->derived);
	read_stacks(&in, get_member(&in, o, "stacks"), &r->derived);
	read_experiment(&in, o, end, r->experiment);
	r->window_ns = get_time_ns(&in, timing, "window_ns");
	r->derived.gauges.first_byte_ns = get_time_ns(&in, timing, "first_byte_monotonic_ns");
	r->derived.gauges.peak_pages = get_count(&in, get_member(&in, record, "pins"), "peak_pages");
	r->derived.gauges.lost_updates = get_count(&in, o, "lost_updates");
	r->experiment->plan = *plan;
	in.wrong |= !ledger_add_up(&r->derived);
	if (!in.wrong)
		sites_fill(r);
	return in.wrong ? -EBADMSG : 0;
}
