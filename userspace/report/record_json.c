// SPDX-License-Identifier: GPL-2.0
/* Prints the record as JSON: null where a number is not known, and then a reason. */
#include "userspace/report/record_json.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/json.h"
#include "userspace/judge/cost.h"
#include "userspace/judge/counts.h"
#include "userspace/judge/laws.h"
#include "userspace/judge/verdict.h"
#include "userspace/record/experiment.h"
#include "userspace/report/parts_json.h"

static json_t *part_json(const struct counter_part *p)
{
	bool unknown = !p->known && *p->why;

	return json_pack("{s:s, s:o, s:b, s:s?}", "pmu", p->pmu, "value",
			 integer_if(p->known, p->value), "scaled", p->scaled, "why",
			 unknown ? p->why : NULL);
}

static json_t *counter_json(const struct counter_value *v)
{
	bool unknown = !v->known && *v->why;
	json_t *o = json_pack("{s:o, s:s?, s:b, s:o}", "value", integer_if(v->known, v->value), "why",
			      unknown ? v->why : NULL, "scaled", v->scaled, "running_share",
			      real_if(v->known, v->running_share));

	if (v->parts > 1) {
		json_t *parts = json_array();

		for (unsigned int p = 0; p < v->parts; p++)
			json_array_append_new(parts, part_json(&v->part[p]));
		put(o, "parts", parts);
	}
	return o;
}

static json_t *counters_json(const struct counter_value values[COUNTER_COUNT])
{
	json_t *o = json_object();

	for (int i = 0; i < COUNTER_COUNT; i++)
		put(o, counter_name(i), counter_json(&values[i]));
	return o;
}

static json_t *caches_json(const struct model_caches *c)
{
	json_t *o = json_pack("{s:s, s:s, s:i, s:s, s:b}", "name", c->name, "emulator", c->emulator,
			      "line_bytes", (int)c->line_bytes, "llc_kind", c->llc_kind,
			      "write_allocate", c->write_allocate);

	for (unsigned int l = 0; l < MODEL_LEVELS; l++)
		put(o, model_level_name(l),
		    json_pack("{s:I, s:i}", "bytes", (json_int_t)c->level[l].bytes, "ways",
			      (int)c->level[l].ways));
	return o;
}

static json_t *modelled_row(unsigned int role, unsigned int context)
{
	return json_pack("{s:s, s:s}", "end", model_role_name(role), "context",
			 model_context_name(context));
}

static json_t *modelled_ends_json(const struct modelled *m)
{
	json_t *list = json_array();

	for (unsigned int role = 0; role < MARKER_ROLES; role++) {
		for (unsigned int context = 0; context < MARKER_CONTEXTS; context++) {
			json_t *o = modelled_row(role, context);

			for (int i = 0; i < MARKER_COPIED_BYTES; i++)
				put(o, model_count_name(i),
				    json_integer(model_sum(m, role, context, i)));
			json_array_append_new(list, o);
		}
	}
	return list;
}

/* Sites that nothing passed are left out. */
static json_t *modelled_sites_json(const struct modelled *m)
{
	json_t *list = json_array();

	for (int site = MODEL_ELSEWHERE + 1; site < MODEL_SITES; site++) {
		for (int cell = 0; cell < MARKER_ROLES * MARKER_CONTEXTS; cell++) {
			unsigned int role = cell / MARKER_CONTEXTS, context = cell % MARKER_CONTEXTS;
			const uint64_t *count = m->count[role][context][site];
			json_t *o;

			if (!count[MARKER_INSTRUCTIONS])
				continue;
			o = modelled_row(role, context);
			put(o, "site", text(model_site_name(site)));
			for (int i = 0; i < MARKER_COUNTS; i++)
				put(o, model_count_name(i),
				    integer_if(i != MARKER_COPIED_BYTES || context != MARKER_USER || count[i],
					       count[i]));
			json_array_append_new(list, o);
		}
	}
	return list;
}

/* What the emulator's plugin counted; NULL if nobody asked for a model. */
static json_t *modelled_json(const struct modelled *m)
{
	json_t *o;

	if (!m->asked)
		return NULL;
	o = json_object();
	put(o, "how", text("modelled"));
	put(o, "why", text_or_null(m->why));
	put(o, "caches", caches_json(&m->caches));
	put(o, "ends", m->known ? modelled_ends_json(m) : json_null());
	put(o, "sites", m->known ? modelled_sites_json(m) : json_null());
	return o;
}

static json_t *both_counters_json(const struct pass_view *pass)
{
	return json_pack("{s:o, s:o}", "sender", counters_json(pass->counters[END_SENDER]),
			 "receiver", counters_json(pass->counters[END_RECEIVER]));
}

static json_t *latency_json(const struct app_totals *rx)
{
	const struct latency *l = &rx->latency;

	return !l->known ? json_null() :
	       json_pack("{s:s, s:f, s:f, s:f}", "what", l->what, "mean", l->mean_us, "p50",
			 l->p50_us, "p99", l->p99_us);
}

static json_t *gbps_json(const struct pass_view *pass)
{
	const struct app_totals *rx = &pass->app[END_RECEIVER];

	return real_if(rx->known && rx->elapsed_ns, pass_gbps(pass));
}

/* Sums over all sockets of both ends. */
static json_t *tcp_json(const struct app_socket *tx, const struct app_socket *rx)
{
	bool known = tx->tcp_known && rx->tcp_known;
	json_t *o = json_object();

	put(o, "accepted_bytes", integer_if(known, tx->tcp_accepted_bytes + rx->tcp_accepted_bytes));
	put(o, "returned_bytes", integer_if(known, tx->tcp_returned_bytes + rx->tcp_returned_bytes));
	put(o, "retransmitted_bytes",
	    integer_if(known, tx->tcp_retransmitted_bytes + rx->tcp_retransmitted_bytes));
	put(o, "why", known ? json_null() : text("the numbers of a socket were not read"));
	return o;
}

/* The client that connected first, by its own account: a report took it for all of them. */
static json_t *first_client_json(const struct app_totals *rx)
{
	const struct app_socket *first = rx->sockets;
	json_t *o;

	if (!rx->known || !rx->socket_count)
		return json_null();
	o = json_object();
	put(o, "messages", json_integer(first->messages));
	put(o, "received_bytes", json_integer(first->received_bytes));
	put(o, "latency_mean_us", real_if(first->latency_known, first->latency_mean_us));
	return o;
}

static json_t *cpu_shares_json(const struct cpu_shares *cpu)
{
	return json_pack("{s:o, s:o, s:o}", "others", real_if(cpu->known, cpu->others), "stolen",
			 real_if(cpu->known, cpu->stolen), "why",
			 text_or_null(cpu_doubt_text(cpu->doubt)));
}

/* What the application moved, both of its ends together. */
static void put_moved(json_t *o, const struct app_totals *tx, const struct app_totals *rx)
{
	bool known = tx->known && rx->known;

	put(o, "accepted_bytes",
	    integer_if(known, tx->sum.accepted_bytes + rx->sum.accepted_bytes));
	put(o, "received_bytes",
	    integer_if(known, tx->sum.received_bytes + rx->sum.received_bytes));
}

static json_t *pass_json(const struct pass_view *pass)
{
	const struct app_totals *tx = &pass->app[END_SENDER], *rx = &pass->app[END_RECEIVER];
	json_t *o = json_object();

	put(o, "window_ns", json_integer(pass->window_ns));
	put(o, "asked_s", real_if(pass->asked_s, pass->asked_s));
	put(o, "elapsed_ns", integer_if(rx->known && rx->elapsed_ns, rx->elapsed_ns));
	put(o, "messages", integer_if(rx->known, rx->sum.messages));
	put_moved(o, tx, rx);
	put(o, "receiver_bytes", integer_if(rx->known, rx->sum.received_bytes));
	put(o, "throughput_gbps", gbps_json(pass));
	put(o, "latency_us", latency_json(rx));
	put(o, "first_client", first_client_json(rx));
	put(o, "counters", both_counters_json(pass));
	put_if(o, "modelled", modelled_json(pass->modelled));
	put(o, "tcp", tcp_json(&tx->sum, &rx->sum));
	put(o, "cpu_shares", cpu_shares_json(&pass->cpu));
	return o;
}

static json_t *passes_json(const struct record *r)
{
	struct pass_view timed = record_timed(r), counted = record_counted(r);
	const char *asked = r->experiment->pass_why;
	const char *why = timed.made && counted.made ? "" : *asked ? asked : r->outcome.reason;

	return json_pack("{s:o, s:o, s:o}", "timed", timed.made ? pass_json(&timed) : json_null(),
			 "counted", counted.made ? pass_json(&counted) : json_null(), "why",
			 text_or_null(why));
}

static json_t *shown_counters_json(const struct record *r)
{
	struct pass_view pass = record_shown(r);

	return both_counters_json(&pass);
}

static const char *timing_why(const struct record *r, const struct pass_view *pass)
{
	return r->machine.instruction_clock ?
		       "this emulated machine's clock counts instructions, 1 ns each" :
	       record_emulated(r) ? "times of an emulated machine mean nothing" :
	       pass->fifo ? "the workload ran under SCHED_FIFO, so that the kernel skips no program" :
	       record_timed(r).made ? "no probes were attached" :
				      "probes were attached: compare only with runs of the same kind";
}

static json_t *timing_json(const struct record *r)
{
	struct pass_view pass = record_shown(r);
	bool timed = record_timed(r).made, counted = record_counted(r).made;
	const struct app_totals *rx = &pass.app[END_RECEIVER];
	json_t *o = json_object();

	put(o, "pass", timed ? text("timed") : counted ? text("counted") : json_null());
	put(o, "throughput_gbps", gbps_json(&pass));
	put(o, "latency_us", latency_json(rx));
	put(o, "elapsed_ns", integer_if(rx->elapsed_ns, rx->elapsed_ns));
	put(o, "window_ns", json_integer(pass.window_ns));
	put(o, "first_byte_monotonic_ns", integer_if(r->derived.gauges.first_byte_ns,
						     r->derived.gauges.first_byte_ns));
	put(o, "comparable", json_boolean(timed && !record_emulated(r) && !pass.fifo));
	put(o, "why", text(timing_why(r, &pass)));
	return o;
}

static json_t *overhead_json(const struct record *r)
{
	struct overhead cost = record_overhead(r);
	double ratio = record_throughput_ratio(r);
	json_t *o = json_object();

	put(o, "throughput_ratio", real_if(ratio, ratio));
	put(o, "events", integer_if(r->stats_known, cost.events));
	put(o, "ns_per_event", real_if(cost.known, cost.ns_per_event));
	put(o, "share", real_if(cost.known, cost.share));
	put(o, "why", cost.known ?
	    text("time inside the programs, as share of all CPUs over the window") :
	    text(r->cost_asked ? "the kernel did not count the run time of BPF programs" :
	    "not asked for: --cost has the kernel time the programs, which slows each of them"));
	return o;
}

static const char *why(const struct end_outcome *end)
{
	return !end->known ? "it was never seen to end" :
	       end->signal && end->told_to_end ? "it did not end when told, and was killed" :
	       end->signal ? "a signal killed it" :
	       end->told_to_end ? "it did not end by itself and was told to" :
	       end->exit_status ? "it failed: see its own output" : NULL;
}

static json_t *end_outcome_json(const struct end_outcome *end)
{
	json_t *o = json_object();
	bool killed = end->known && end->signal;

	put(o, "exit_status", integer_if(end->known && !killed, end->exit_status));
	put(o, "signal", integer_if(killed, end->signal));
	put(o, "why", text_or_null(why(end)));
	return o;
}

static json_t *verdict_json(const struct record *r)
{
	json_t *o = json_object();
	struct verdict v;

	verdict_fill(r, &v);
	put(o, "passed", json_boolean(v.passed));
	put_if(o, "copies_per_byte", v.copies_known ? json_real(v.copies_per_byte) : NULL);
	put_if(o, "referenced_bytes", v.referenced_known ? json_integer(v.referenced_bytes) : NULL);
	put_if(o, "uncopied_bytes", v.uncopied_known ? json_integer(v.uncopied_bytes) : NULL);
	put_if(o, "chief_cause", v.chief_cause ? text(v.chief_cause) : NULL);
	put(o, "laws_broken", json_integer(v.laws_broken));
	return o;
}

static json_t *outcome_json(const struct record *r)
{
	json_t *o = json_pack("{s:s, s:o}", "status", outcome_status_name(r->outcome.status), "reason",
			      text_or_null(r->outcome.reason));

	for (int e = 0; e < END_COUNT; e++)
		put(o, e == END_SENDER ? "sender" : "receiver",
		    end_outcome_json(&r->experiment->ends.end[e]));
	return o;
}

static json_t *event_json(const struct cost_event *e, uint64_t value)
{
	json_t *o = json_object();

	put(o, "value", integer_if(e->known, value));
	put(o, "scaled", json_boolean(e->scaled));
	put(o, "why", text_or_null(e->why));
	return o;
}

static json_t *value_json(const struct cost_value *v)
{
	const struct cost_sums *s = &v->sums;
	json_t *o = json_object();

	put(o, "calls", integer_if(v->known, s->calls));
	put(o, "bytes", integer_if(v->known, s->bytes));
	put(o, "time_ns", integer_if(v->known, s->time_ns));
	put(o, "moved_calls", json_integer(s->moved_calls));
	put(o, "slept_calls", json_integer(s->slept_calls));
	for (int e = 0; e < COST_EVENTS; e++)
		put(o, counter_name(e), event_json(&v->event[e], v->event[e].value));
	put(o, "why", text_or_null(v->why));
	return o;
}

static json_t *own_json(const struct cost_value *v)
{
	json_t *o = json_object();

	put(o, "calls", integer_if(v->known, v->sums.calls));
	put(o, "least_ns", integer_if(v->known, v->sums.least_ns));
	put(o, "mean_ns", real_if(v->known, (double)v->sums.time_ns / v->sums.calls));
	for (int e = 0; e < COST_EVENTS; e++)
		put(o, counter_name(e), event_json(&v->event[e], v->sums.least[e]));
	put(o, "why", text_or_null(v->why));
	return o;
}

/* One measured function; NULL without --cost, or if @name is no measured call. */
static json_t *cost_json(const struct record *r, const char *name)
{
	for (enum cost c = 0; r->cost_asked && c < COST_empty; c++)
		if (!strcmp(cost_name(c), name))
			return value_json(&r->cost[c]);
	return NULL;
}

/* The calls that are no site, and the cost of measuring; NULL without --cost. */
static json_t *costs_json(const struct record *r)
{
	json_t *o;

	if (!r->cost_asked)
		return NULL;
	o = json_object();
	put(o, "why", text_or_null(r->cost_why));
	put(o, "time_note", text_or_null(costs_time_note(r)));
	put(o, "probes_themselves", own_json(&r->cost[COST_empty]));
	put(o, "send_call", value_json(&r->cost[COST_send_call]));
	put(o, "recv_call", value_json(&r->cost[COST_recv_call]));
	return o;
}

/* Without the other half only the device of this host is known. */
static json_t *path_json(const struct path_info *p, bool alone)
{
	json_t *taps = json_array();

	for (enum tap t = 0; t < TAP_COUNT; t++)
		if (p->tap[t])
			json_array_append_new(taps, text(tap_name(t)));
	return json_pack("{s:s, s:o, s:o, s:i, s:b, s:b, s:b, s:o, s:b, s:o, s:o}", "kind", p->kind,
			 "tx_dev", alone ? text_or_null(p->tx_dev) : text(p->tx_dev), "rx_dev",
			 alone ? text_or_null(p->rx_dev) : text(p->rx_dev), "mtu", p->mtu,
			 "scatter_gather", p->scatter_gather, "tso", p->tso, "hardware_dma", p->hardware_dma, "taps",
			 taps, "ipv6", p->ipv6, "netem", text_or_null(p->netem), "qdisc",
			 text_or_null(p->qdisc));
}

/* Why counts of the workload are null; null if none is. */
static json_t *workload_why(const struct record *r)
{
	const struct app_totals *tx = record_app(r, END_SENDER), *rx = record_app(r, END_RECEIVER);
	bool completions = tx->completions_read, content = !rx->content_unchecked;

	if (!tx->known || !rx->known)
		return text("the workload left no totals");
	if (completions && content)
		return json_null();
	return json_sprintf("%s%s%s%s", completions ? "" : "completions: this variant never reads them",
			    completions || content ? "" : "; ", content ? "" : "content_errors: ",
			    content ? "" : plan_unchecked_why(&r->experiment->plan));
}

/* NULL if it behaves as usual. */
static json_t *behaviours_json(const struct workload_plan *p)
{
	struct behaviour_names names = plan_behaviours(p);
	json_t *list = p->behaviours ? json_array() : NULL;
	char *rest = names.text;

	for (char *name; list && (name = strsep(&rest, ","));)
		json_array_append_new(list, text(name));
	return list;
}

/* Each listener's share; NULL if there was one. */
static json_t *listeners_json(const struct app_totals *app)
{
	json_t *list = app->listener_count ? json_array() : NULL;

	for (int i = 0; i < app->listener_count; i++)
		json_array_append_new(list, json_pack("{s:I, s:I, s:I}",
			"connections", (json_int_t)app->listener[i].connections,
			"accepted_bytes", (json_int_t)app->listener[i].accepted_bytes,
			"received_bytes", (json_int_t)app->listener[i].received_bytes));
	return list;
}

/* NULL if threads may run anywhere. */
static json_t *cpus_json(const struct workload_plan *p)
{
	return *p->cpus[END_SENDER] ? json_pack("{s:s, s:s}", "sender", p->cpus[END_SENDER], "receiver",
						p->cpus[END_RECEIVER]) : NULL;
}

static json_t *workload_json(const struct record *r)
{
	const struct workload_plan *p = &r->experiment->plan;
	const struct app_totals *tx = record_app(r, END_SENDER), *rx = record_app(r, END_RECEIVER);
	bool known = tx->known && rx->known;
	json_t *o = json_pack("{s:s, s:I, s:i, s:s, s:s}", "variant", p->variant, "bytes",
			      (json_int_t)p->bytes, "threads", p->threads, "pattern", p->pattern,
			      "receiver", p->receiver);

	put(o, "readers", json_integer(p->readers ? p->readers : 1));
	put(o, "memlock_bytes", integer_if(p->memlock_bytes, p->memlock_bytes));
	put(o, "optmem_bytes", integer_if(p->optmem_bytes, p->optmem_bytes));
	put(o, "connections", integer_if(rx->known, rx->socket_count));
	put(o, "messages", integer_if(rx->known, rx->sum.messages));
	put(o, "messages_asked", integer_if(p->messages, p->messages));
	if (r->experiment->fifo)
		put(o, "scheduling", text("fifo"));
	put_if(o, "behaviours", behaviours_json(p));
	put_if(o, "piece_bytes", p->piece_bytes ? json_integer(p->piece_bytes) : NULL);
	put_if(o, "senders", p->senders ? json_integer(p->senders) : NULL);
	put_if(o, "cpus", cpus_json(p));
	put_if(o, "listeners", listeners_json(tx));
	put(o, "seconds", p->messages ? json_null() : json_real(p->seconds));
	put_moved(o, tx, rx);
	put(o, "gather_bytes", integer_if(tx->known, tx->sum.gather_bytes));
	put(o, "zerocopy_sends", integer_if(tx->known, tx->sum.zerocopy_sends));
	put(o, "completions", integer_if(tx->completions_read, tx->sum.completions));
	put(o, "completions_copied", integer_if(tx->completions_read, tx->sum.completions_copied));
	put(o, "enobufs", integer_if(tx->known, tx->sum.enobufs));
	put(o, "content_errors",
	    integer_if(known && !rx->content_unchecked,
		       tx->sum.content_errors + rx->sum.content_errors));
	put(o, "why", workload_why(r));
	return o;
}

static json_t *run_sites_json(const struct record *r)
{
	json_t *o = sites_json(r->sites, true);

	for (enum site s = 0; s < SITE_COUNT; s++)
		put_if(json_object_get(o, site_name(s)), "cost", cost_json(r, site_name(s)));
	return o;
}

static json_t *count_whys_json(const struct record *r)
{
	json_t *o = json_object();

	for (enum count c = 0; c < COUNT_COUNT; c++)
		put_if(o, count_name(c), count_lacks(r, c) ? text(count_lacks(r, c)) : NULL);
	return o;
}

static json_t *pins_json(const struct pins *p)
{
	json_t *o = json_object();

	put(o, "pages", integer_if(p->how != HOW_NOT_MEASURED, p->pages));
	put(o, "released_pages",
	    integer_if(p->released_how != HOW_NOT_MEASURED, p->released_pages));
	put(o, "peak_pages", integer_if(p->peak_how != HOW_NOT_MEASURED, p->peak_pages));
	put(o, "how", text(how_name(p->how)));
	put(o, "why", text_or_null(p->why));
	return o;
}

/* What is known of the whole is known of each socket, and why it is not stands there. */
static json_t *socket_json(const struct record *r, const struct socket_books *s)
{
	enum end end = END_SENDER;
	const struct experiment *x = r->experiment;
	const struct app_socket *app = record_app_socket(r, s, &end);
	enum how how[SITE_COUNT];
	json_t *o = json_object();

	for (enum site i = 0; i < SITE_COUNT; i++)
		how[i] = r->sites[i].how;
	put(o, "cookie", cookie_json(s->cookie));
	put(o, "end", app ? text(end == END_SENDER ? "sender" : "receiver") : json_null());
	put(o, "connection", app ? json_integer(app - record_app(r, end)->sockets + 1) : json_null());
	put(o, "messages", integer_if(app, app ? app->messages : 0));
	put(o, "latency_mean_us",
	    app && app->latency_known ? json_real(app->latency_mean_us) : json_null());
	put(o, "pid", integer_if(app, record_app(r, end)->pid));
	put(o, "local", app ? text(app->local) : json_null());
	put(o, "remote", app ? text(app->remote) : json_null());
	put(o, "protocol", text(protocol_name(s->datagrams)));
	put(o, "comm", text("workload"));
	if (x->far || x->ends.alone)
		put(o, "host", text(s->host == END_SENDER ? "sender" : "receiver"));
	put_books(o, &s->books, how, counts_known(r), true);
	return o;
}

static json_t *sockets_json(const struct record *r)
{
	json_t *array = json_array();

	for (int i = 0; i < r->derived.socket_count; i++)
		json_array_append_new(array, socket_json(r, &r->derived.sockets[i]));
	return array;
}

/* The receiver's host, where it is not the sender's. */
static json_t *peer_json(const struct record *far)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:i, s:o, s:I}", "end", "receiver", "machine",
			 machine_json(&far->machine), "path", path_json(&far->experiment->path, false),
			 "backend", backend_json(&far->measured, far->stats_known), "attempt", far->experiment->attempt, "overhead",
			 overhead_json(far), "window_ns", (json_int_t)far->window_ns);
}

/* What is known of the other host when its half never came. */
static json_t *lost_peer_json(const struct experiment *x)
{
	return json_pack("{s:s, s:s}", "end",
			 x->ends.alone_at == END_SENDER ? "receiver" : "sender", "lost",
			 x->ends.alone_why);
}

static void put_peer(json_t *o, const struct experiment *x)
{
	if (x->far)
		put(o, "peer", peer_json(x->far));
	else if (x->ends.alone)
		put(o, "peer", lost_peer_json(x));
}

#define HIDDEN "(not kept)"

/* The words of a shell that reach the other host may hold a password, and all may read a record. An option may be
 * shortened: to two letters, as others begin with the first one. Where its value begins in the word; NULL: it is none
 * of these. It is empty if the next word is the value.
 */
static const char *hidden_value(const char *word)
{
	static const char *const hidden[] = { "ssh", "far" };
	size_t length;

	if (strncmp(word, "--", 2))
		return NULL;
	length = strcspn(word + 2, "=");
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (length >= 2 && !strncmp(word + 2, hidden[i], length))
			return word + 2 + length;
	return NULL;
}

static json_t *command_json(const struct record *r)
{
	json_t *command = json_array();
	bool hide = false;

	for (char **word = r->command; word && *word; word++) {
		const char *value = hide ? NULL : hidden_value(*word);
		char shown[64];

		if (value && *value)
			snprintf(shown, sizeof(shown), "%.*s=" HIDDEN, (int)(value - *word), *word);
		json_array_append_new(command, text(hide ? HIDDEN : value && *value ? shown : *word));
		hide = value && !*value;
	}
	return command;
}

static json_t *ways_json(const struct workload_plan *p)
{
	json_t *list = json_array();
	struct way_names way;

	for (int i = 0; plan_way(p, i, &way); i++)
		json_array_append_new(list, text(way.name));
	return list;
}

static json_t *column_json(const struct app_totals *tx, size_t offset)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tx->block_count; i++)
		json_array_append_new(list, json_integer(*(const uint64_t *)((const char *)&tx->blocks[i] + offset)));
	return list;
}

/* The blocks of variants that alternate, a list for each number; NULL: none do. */
static json_t *alternation_json(const struct record *r)
{
	const struct workload_plan *p = &r->experiment->plan;
	const struct app_totals *tx = record_app(r, END_SENDER);
	json_t *o;

	if (!*p->alternate)
		return NULL;
	o = json_pack("{s:o, s:i, s:I}", "variants", ways_json(p), "asked_ms", p->block_ms, "block_bytes",
		      (json_int_t)tx->block_bytes);
	put_if(o, "answer_every", p->answer_every ? json_integer(p->answer_every) : NULL);
#define PUT_COLUMN(name) put(o, #name, column_json(tx, offsetof(struct block, name)));
	BLOCK_NUMBERS(PUT_COLUMN)
#undef PUT_COLUMN
	if (!tx->machine_known)
		put(o, "machine_ns", json_null());
	if (!tx->ksoftirqd_known)
		put(o, "ksoftirqd_ns", json_null());
	put(o, "why", tx->machine_known && tx->ksoftirqd_known ? json_null() :
		      text("the sender's process could not read the clocks of the machine"));
	return o;
}

/* What is known because copyscope arranged it. */
static json_t *experiment_json(const struct record *r)
{
	const struct experiment *x = r->experiment;
	json_t *o = json_object();

	put(o, "verdict", verdict_json(r));
	put(o, "outcome", outcome_json(r));
	put(o, "attempt", json_integer(x->attempt));
	put(o, "path", path_json(&x->path, x->ends.alone));
	put(o, "workload", workload_json(r));
	put(o, "passes", passes_json(r));
	put_if(o, "alternation", alternation_json(r));
	put(o, "counters", shown_counters_json(r));
	put(o, "timing", timing_json(r));
	put_peer(o, x);
	return o;
}

/* Keys are in the order of this function. */
json_t *record_json(const struct record *r)
{
	struct record_begin begin = {
		.command = command_json(r),
		.subject = json_pack("{s:s, s:n, s:n, s:n}", "kind", "experiment", "asked", "words", "exit_status"),
		.ended_by = r->outcome.status == RUN_INTERRUPTED ? "interrupted" : "subject ended",
		.books = "calls",
		.details = true,
		.timed = r->stats_known,
	};
	json_t *o = record_begin_json(&r->measured, &begin);

	put(o, "sites", run_sites_json(r));
	put(o, "counts", counts_json(counts_known(r), r->derived.total.count));
	put(o, "count_whys", count_whys_json(r));
	put(o, "causes", causes_json(r->causes, r->cause_count));
	put(o, "pins", pins_json(&r->pins));
	put(o, "laws", laws_json(&r->measured));
	put(o, "overhead", overhead_json(r));
	put_if(o, "cost", costs_json(r));
	put(o, "sockets", sockets_json(r));
	put(o, "experiment", experiment_json(r));
	return o;
}

int record_write(const struct record *r, FILE *out)
{
	return json_write(record_json(r), out);
}
