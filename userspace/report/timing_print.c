// SPDX-License-Identifier: GPL-2.0
/* The report's lines on time: throughput and latency, and what looking cost. */
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/report/report_parts.h"

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

/* 17.4 Gbit/s: 5.59 GB in 2.57 s */
static void print_throughput(const struct pass_view *pass, const struct report_page *p)
{
	const struct app_totals *app = &pass->app[END_RECEIVER];
	char rate[AMOUNT_BYTES], bytes[AMOUNT_BYTES], seconds[AMOUNT_BYTES], line[3 * AMOUNT_BYTES + 16];

	if (p->exact)
		snprintf(rate, sizeof(rate), "%.6f Gbit/s", pass_gbps(pass));
	else
		rate_text(pass_gbps(pass) * 1e9, rate);
	amount_text(p, app->sum.received_bytes, bytes);
	elapsed_text(p, app->elapsed_ns, seconds);
	snprintf(line, sizeof(line), "%s: %s%s in %s", rate, bytes, p->exact ? " bytes" : "", seconds);
	print_labelled(p, "throughput", line);
}

/* A time of the workload, which measures in microseconds. */
static void latency_text(const struct report_page *p, double us, char text[static AMOUNT_BYTES])
{
	if (p->exact)
		snprintf(text, AMOUNT_BYTES, "%.3f us", us);
	else
		duration_text(us * 1e3, text);
}

/* mean 312 us, p50 13.1 us, p99 6.72 ms (interval between whole messages) */
static void print_latency(const struct latency *latency, const struct report_page *p)
{
	char mean[AMOUNT_BYTES], p50[AMOUNT_BYTES], p99[AMOUNT_BYTES], line[3 * AMOUNT_BYTES + 128];

	if (!latency->known)
		return;
	latency_text(p, latency->mean_us, mean);
	latency_text(p, latency->p50_us, p50);
	latency_text(p, latency->p99_us, p99);
	snprintf(line, sizeof(line), "mean %s, p50 %s, p99 %s (%s)", mean, p50, p99, latency->what);
	print_labelled(p, "latency", line);
}

void print_timing(const struct record *r, const struct report_page *p)
{
	struct pass_view pass = record_shown(r);
	const struct app_totals *app = &pass.app[END_RECEIVER];

	if (!app->known || !app->elapsed_ns)
		return;
	fputc('\n', p->out);
	print_throughput(&pass, p);
	print_latency(&app->latency, p);
	print_labelled(p, "", timing_note(r));
}

/* Of a record, which is one host's. */
static void print_looking(const struct record *r, const char *label, const struct report_page *p)
{
	struct overhead o = record_overhead(r);
	double ratio = record_throughput_ratio(r);
	char events[AMOUNT_BYTES], line[160] = "";

	if (ratio)
		snprintf(line, sizeof(line), "throughput with probes %.2f of that without", ratio);
	number_text(o.events, events);
	if (o.known)
		snprintf(line + strlen(line), sizeof(line) - strlen(line),
			 "%s%s events, %.0f ns each, %.1f %% of the time of %d CPU%s", *line ? "; " : "",
			 events, o.ns_per_event, 100 * o.share, r->machine.cpus,
			 r->machine.cpus == 1 ? "" : "s");
	if (*line)
		print_folded(p->out, p->columns, label, line, LABEL_COLUMNS + 2);
}

void print_overhead(const struct record *r, const struct report_page *p)
{
	print_looking(r, "\ncost of looking  ", p);
	if (record_far(r))
		print_looking(record_far(r), "  at receiver    ", p);
}
