// SPDX-License-Identifier: GPL-2.0
/* Prints what each pass of a run measured, and which of them the record's times are from. */
#include "userspace/report/json/passes_json.h"

#include "userspace/common/json/json.h"
#include "userspace/report/json/counters_json.h"
#include "userspace/report/modelled/modelled_json.h"

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
