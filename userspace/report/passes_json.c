// SPDX-License-Identifier: GPL-2.0
/* Prints what each pass of a run measured, and which of them the record's times are from. */
#include "userspace/report/passes_json.h"

#include "userspace/common/json/json.h"

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

static json_t *row(unsigned int role, unsigned int context)
{
	return json_pack("{s:s, s:s}", "end", model_role_name(role), "context",
			 model_context_name(context));
}

static json_t *ends_json(const struct modelled *m)
{
	json_t *list = json_array();

	for (unsigned int role = 0; role < BELL_ROLES; role++) {
		for (unsigned int context = 0; context < BELL_CONTEXTS; context++) {
			json_t *o = row(role, context);

			for (int i = 0; i < BELL_COPIED_BYTES; i++)
				put(o, model_count_name(i),
				    json_integer(model_sum(m, role, context, i)));
			json_array_append_new(list, o);
		}
	}
	return list;
}

/* Sites that nothing passed are left out. */
static json_t *sites_json(const struct modelled *m)
{
	json_t *list = json_array();

	for (int site = MODEL_ELSEWHERE + 1; site < MODEL_SITES; site++) {
		for (int cell = 0; cell < BELL_ROLES * BELL_CONTEXTS; cell++) {
			unsigned int role = cell / BELL_CONTEXTS, context = cell % BELL_CONTEXTS;
			const uint64_t *count = m->count[role][context][site];
			json_t *o;

			if (!count[BELL_INSTRUCTIONS])
				continue;
			o = row(role, context);
			put(o, "site", text(model_site_name(site)));
			for (int i = 0; i < BELL_COUNTS; i++)
				put(o, model_count_name(i),
				    integer_if(i != BELL_COPIED_BYTES || context != BELL_USER || count[i],
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
	put(o, "ends", m->known ? ends_json(m) : json_null());
	put(o, "sites", m->known ? sites_json(m) : json_null());
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

static json_t *pass_json(const struct pass_view *pass)
{
	const struct app_totals *tx = &pass->app[END_SENDER], *rx = &pass->app[END_RECEIVER];
	bool known = tx->known && rx->known;
	json_t *o = json_object();

	put(o, "window_ns", json_integer(pass->window_ns));
	put(o, "asked_s", real_if(pass->asked_s, pass->asked_s));
	put(o, "elapsed_ns", integer_if(rx->known && rx->elapsed_ns, rx->elapsed_ns));
	put(o, "messages", integer_if(rx->known, rx->sum.messages));
	put(o, "accepted_bytes",
	    integer_if(known, tx->sum.accepted_bytes + rx->sum.accepted_bytes));
	put(o, "received_bytes",
	    integer_if(known, tx->sum.received_bytes + rx->sum.received_bytes));
	put(o, "throughput_gbps", gbps_json(pass));
	put(o, "latency_us", latency_json(rx));
	put(o, "first_client", first_client_json(rx));
	put(o, "counters", both_counters_json(pass));
	put_if(o, "modelled", modelled_json(pass->modelled));
	put(o, "tcp", tcp_json(&tx->sum, &rx->sum));
	put(o, "cpu_shares", cpu_shares_json(&pass->cpu));
	return o;
}

json_t *passes_json(const struct record *r)
{
	struct pass_view timed = record_timed(r), counted = record_counted(r);
	const char *asked = r->experiment->pass_why;
	const char *why = timed.made && counted.made ? "" : *asked ? asked : r->outcome.reason;

	return json_pack("{s:o, s:o, s:o}", "timed", timed.made ? pass_json(&timed) : json_null(),
			 "counted", counted.made ? pass_json(&counted) : json_null(), "why",
			 text_or_null(why));
}

json_t *shown_counters_json(const struct record *r)
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

json_t *timing_json(const struct record *r)
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

json_t *overhead_json(const struct record *r)
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
