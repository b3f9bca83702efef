// SPDX-License-Identifier: GPL-2.0
/* The report for people: verdict, sites, causes, pins, laws, counters, cost, what is missing. */
#include "userspace/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/cost.h"
#include "userspace/judge/laws/laws.h"
#include "userspace/judge/verdict.h"
#include "userspace/record/experiment.h"
#include "userspace/report/modelled/modelled_print.h"

enum { VERDICT_BYTES = 400 };

static void print_sites(const struct record *r, FILE *out)
{
	uint64_t messages = record_app(r, END_RECEIVER)->sum.messages;
	uint64_t accepted = r->derived.total.count[COUNT_accepted_bytes];
	char bytes[32];

	if (r->backend == BACKEND_NONE)
		return;
	fprintf(out, "\n%-14s %18s %14s %9s  %s\n", "site", "bytes", "bytes/message", "per byte",
		"how it is known");
	for (enum site s = 0; s < SITE_COUNT; s++) {
		const struct site_value *v = &r->sites[s];

		if (v->how == HOW_NOT_MEASURED)
			continue;
		number_text(v->tally.bytes, bytes);
		fprintf(out, "%-14s %18s ", site_name(s), bytes);
		if (messages)
			fprintf(out, "%14.1f ", (double)v->tally.bytes / messages);
		else
			fprintf(out, "%14s ", "-");
		if (accepted)
			fprintf(out, "%9.3f", (double)v->tally.bytes / accepted);
		else
			fprintf(out, "%9s", "-");
		fprintf(out, "  %s\n", how_name(v->how));
	}
}

/*
 * why it was copied      site                        bytes  of payload        calls
 * local delivery         late_copy              26,214,400     100.0 %        1,238
 *     the receiver is on this machine: zero copy cannot pay here, use plain send
 */
static void print_causes(const struct record *r, FILE *out)
{
	uint64_t payload = r->derived.total.count[COUNT_accepted_bytes];

	if (r->cause_count)
		fprintf(out, "\n%-28s %-12s %18s %11s %12s\n", "why it was copied", "site", "bytes",
			"of payload", "calls");
	for (int i = 0; i < r->cause_count; i++) {
		const struct cause *c = &r->causes[i];
		char bytes[32] = "-", share[32] = "-", calls[32] = "-";

		if (c->bytes_known)
			number_text(c->tally.bytes, bytes);
		if (c->bytes_known && payload)
			snprintf(share, sizeof(share), "%.1f %%", 100.0 * c->tally.bytes / payload);
		if (c->tally.calls)
			number_text(c->tally.calls, calls);
		fprintf(out, "%-28s %-12s %18s %11s %12s\n", c->name, site_name(c->site), bytes, share,
			calls);
		print_wrapped(out, "    ", c->remedy, 4);
		if (*c->stack)
			print_wrapped(out, "    stack: ", c->stack, 11);
	}
}

static void print_pins(const struct record *r, FILE *out)
{
	const unsigned long long *n = r->derived.total.count;
	const struct app_totals *totals = record_app(r, END_SENDER);
	const struct app_socket *app = &totals->sum;
	char pages[32], sends[32], completed[32];

	if (!n[COUNT_zerocopy_sends])
		return;
	number_text(r->pins.pages, pages);
	if (r->pins.how == HOW_NOT_MEASURED)
		fprintf(out, "\npinned          not measured");
	else
		fprintf(out, "\npinned          %s%s pages, %.1f a send",
			r->pins.how == HOW_DERIVED ? "at most " : "", pages,
			(double)r->pins.pages / n[COUNT_zerocopy_sends]);
	if (r->pins.released_how != HOW_NOT_MEASURED) {
		number_text(r->pins.released_pages, pages);
		fprintf(out, ", %s released", pages);
	}
	if (r->pins.peak_how != HOW_NOT_MEASURED) {
		number_text(r->pins.peak_pages, pages);
		fprintf(out, ", at most %s at once", pages);
	}
	number_text(n[COUNT_zerocopy_sends], sends);
	number_text(app->completions, completed);
	if (!r->experiment) {
		fputc('\n', out);
		return;
	}
	fprintf(out, "\ncompletions     ");
	if (!totals->completions_read) {
		fprintf(out, "never read by the workload, for %s zero-copy sends\n", sends);
		return;
	}
	fprintf(out, "%s read for %s zero-copy sends", completed, sends);
	number_text(app->completions_copied, completed);
	fprintf(out, ", %s said COPIED\n", completed);
}

static void print_laws(const struct record *r, FILE *out)
{
	fprintf(out, "\n%-23s %-12s %16s %16s %10s\n", "law", "", "left", "right", "residual");
	for (int i = 0; i < r->law_count; i++) {
		const struct law *law = &r->laws[i];
		char left[32] = "-", right[32] = "-", residual[32] = "-";

		if (r->backend == BACKEND_NONE && !law->known)
			continue;
		if (law->known) {
			number_text(law->left, left);
			number_text(law->right, right);
			number_text(law->residual, residual);
		}
		fprintf(out, "%-23s %-12s %16s %16s %10s\n", law->name,
			law_status_name(law->status), left, right, residual);
		if (law->status == LAW_BROKEN) {
			fprintf(out, "    left: %s; right: %s\n", law->left_is, law->right_is);
			if (*law->why)
				print_wrapped(out, "    ", law->why, 4);
		}
	}
}

static void print_counter(const struct counter_value *v, FILE *out)
{
	char number[32];

	if (!v->known) {
		fprintf(out, " %18s", "not measured");
		return;
	}
	number_text(v->value, number);
	fprintf(out, " %17s%s", number, v->scaled ? "*" : " ");
}

static void print_counters(const struct record *r, FILE *out)
{
	struct pass_view pass = record_shown(r);
	bool scaled = false;

	fprintf(out, "\n%-22s %18s %18s\n", "counters", "sender", "receiver");
	for (int i = 0; i < COUNTER_COUNT; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s%s", counter_name(i),
			 i == COUNTER_TASK_CLOCK ? " (ns)" : "");
		fprintf(out, "%-22s", name);
		for (int e = 0; e < END_COUNT; e++) {
			print_counter(&pass.counters[e][i], out);
			scaled |= pass.counters[e][i].scaled;
		}
		fputc('\n', out);
	}
	if (scaled)
		fprintf(out, "  * shared its hardware counter with others: scaled up\n");
}

/* Of which pass these times are, and what they are worth. */
static const char *timing_note(const struct record *r)
{
	return r->machine.instruction_clock ?
		       "this emulated machine's clock counts instructions, 1 ns each: no speed" :
	       record_emulated(r) ? "times of an emulated machine mean nothing; counts are exact" :
	       record_counted(r).made && record_timed(r).made ?
		       "without probes, in a pass of its own; counters, too" :
	       record_timed(r).made ? "without probes" :
				      "with probes attached: compare only with runs like it";
}

static void print_timing(const struct record *r, FILE *out)
{
	struct pass_view pass = record_shown(r);
	const struct app_totals *app = pass.app ? &pass.app[END_RECEIVER] : NULL;
	char line[160];
	int len;

	if (!app || !app->known || !app->elapsed_ns)
		return;
	len = snprintf(line, sizeof(line), "%.3f Gbit/s", pass_gbps(&pass));
	if (app->latency.known)
		snprintf(line + len, sizeof(line) - len, "; %s: mean %.1f us, p50 %.1f, p99 %.1f",
			 app->latency.what, app->latency.mean_us, app->latency.p50_us,
			 app->latency.p99_us);
	print_wrapped(out, "\ntime            ", line, 16);
	fprintf(out, "                %s\n", timing_note(r));
}

static void print_overhead(const struct record *r, const char *what, FILE *out)
{
	struct overhead o = record_overhead(r);
	double ratio = record_throughput_ratio(r);
	char events[32];

	if (ratio)
		fprintf(out, "%s throughput %.2f of that without probes\n", what, ratio);
	if (!o.known)
		return;
	number_text(o.events, events);
	fprintf(out, "%s %s events, %.0f ns each, %.1f %% of the time of %d CPU%s\n",
		ratio ? "               " : what, events, o.ns_per_event, 100 * o.share,
		r->machine.cpus, r->machine.cpus == 1 ? "" : "s");
}

static void print_missing(const struct record *r, FILE *out)
{
	bool any = false;

	for (enum site s = 0; s < SITE_COUNT; s++) {
		char first[40];

		if (r->sites[s].how != HOW_NOT_MEASURED)
			continue;
		if (!any)
			fprintf(out, "\nnot measured\n");
		any = true;
		snprintf(first, sizeof(first), "  %-14s ", site_name(s));
		print_wrapped(out, first, r->sites[s].why, 17);
	}
	for (int i = 0; i < r->law_count; i++) {
		char first[48];

		if (r->laws[i].status != LAW_NOT_TESTABLE || r->backend == BACKEND_NONE)
			continue;
		snprintf(first, sizeof(first), "  law %s: ", r->laws[i].name);
		print_wrapped(out, first, r->laws[i].why, 17);
	}
}

/* 1,000 x 65536 bytes, 4 connections, stream, path veth, kernel 6.12.95, trampoline backend */
static void print_head(const struct record *r, FILE *out)
{
	const struct experiment *x = r->experiment;
	const struct record *far = record_far(r);
	char messages[32], line[384] = "";

	number_text(record_app(r, END_RECEIVER)->sum.messages, messages);
	if (x)
		snprintf(line, sizeof(line), "%s x %" PRIu64 " bytes, %d connection%s, %s, path %s, ",
			 messages, x->plan.bytes, x->plan.threads, x->plan.threads == 1 ? "" : "s",
			 x->plan.pattern, x->path.kind);
	else
		snprintf(line, sizeof(line), "%d socket%s, ", r->derived.socket_count,
			 r->derived.socket_count == 1 ? "" : "s");
	snprintf(line + strlen(line), sizeof(line) - strlen(line), "kernel %s, %s backend",
		 r->machine.kernel, backend_name(r->backend));
	if (far)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "; to kernel %s, %s backend",
			 far->machine.kernel, backend_name(far->backend));
	print_wrapped(out, "\n", line, 0);
}

void report_print(const struct record *r, FILE *out)
{
	char verdict[VERDICT_BYTES];

	verdict_sentence(r, verdict, sizeof(verdict));
	print_wrapped(out, "", verdict, 0);
	print_head(r, out);
	print_sites(r, out);
	print_causes(r, out);
	print_pins(r, out);
	print_laws(r, out);
	if (r->experiment)
		print_counters(r, out);
	modelled_print(r, out);
	costs_print(r, out);
	print_timing(r, out);
	print_overhead(r, "cost of looking", out);
	if (record_far(r))
		print_overhead(record_far(r), "  at the receiver", out);
	print_missing(r, out);
}
