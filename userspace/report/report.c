// SPDX-License-Identifier: GPL-2.0
/* Prints the record as text: verdict, times, bytes, zero copy, laws, counters, cost, what is missing. */
#include "userspace/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/cost.h"
#include "userspace/judge/verdict.h"
#include "userspace/record/experiment.h"
#include "userspace/report/missing.h"
#include "userspace/report/tables.h"

/* Of which pass these times are, and what they are worth. */
static const char *timing_note(const struct record *r)
{
	return r->machine.instruction_clock ?
		       "this emulated machine's clock counts instructions, 1 ns each: no speed" :
	       record_emulated(r) ? "times of an emulated machine mean nothing; counts are exact" :
	       record_counted(r).made && record_timed(r).made ?
		       "of a pass of its own, without probes; counters, too" :
	       record_timed(r).made ? "without probes" :
				      "with probes attached: compare only with runs like it";
}

/* 17.4 Gbit/s: 5.59 GB in 2.57 s. The passes of a run of some seconds have as many messages as they managed:
 * 5.59 GB, 85,297 messages, in 2.57 s */
static void print_throughput(const struct record *r, const struct pass_view *pass,
			     const struct report_page *p)
{
	const struct app_totals *app = &pass->app[END_RECEIVER];
	char rate[AMOUNT_BYTES], bytes[AMOUNT_BYTES], seconds[AMOUNT_BYTES], count[AMOUNT_BYTES];
	char messages[AMOUNT_BYTES + 16] = "", line[4 * AMOUNT_BYTES + 32];

	if (p->exact)
		snprintf(rate, sizeof(rate), "%.6f Gbit/s", pass_gbps(pass));
	else
		rate_text(pass_gbps(pass) * 1e9, rate);
	amount_text(p, app->sum.received_bytes, bytes);
	elapsed_text(p, app->elapsed_ns, seconds);
	number_text(app->sum.messages, count);
	if (app->sum.messages != record_app(r, END_RECEIVER)->sum.messages)
		snprintf(messages, sizeof(messages), ", %s messages,", count);
	snprintf(line, sizeof(line), "%s: %s%s%s in %s", rate, bytes, p->exact ? " bytes" : "", messages,
		 seconds);
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

static void print_timing(const struct record *r, const struct report_page *p)
{
	struct pass_view pass = record_shown(r);
	const struct app_totals *app = &pass.app[END_RECEIVER];

	if (!app->known || !app->elapsed_ns)
		return;
	fputc('\n', p->out);
	print_throughput(r, &pass, p);
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
		page_text(p, label, line, LABEL_COLUMNS + 2);
}

static void print_overhead(const struct record *r, const struct report_page *p)
{
	print_looking(r, "\ncost of looking  ", p);
	if (record_far(r))
		print_looking(record_far(r), "  at receiver    ", p);
}

/* With the mark of a scaled number, or what keeps the column where another one has it. */
static void print_counter(const struct counter_value *v, enum counter_event event, const char *unmarked,
			  const struct report_page *p)
{
	char number[AMOUNT_BYTES];

	if (!v->known) {
		fprintf(p->out, " %17s%s", "not measured", unmarked);
		return;
	}
	if (event == COUNTER_TASK_CLOCK)
		elapsed_text(p, v->value, number);
	else
		number_text(v->value, number);
	fprintf(p->out, " %17s%s", number, v->scaled ? "*" : unmarked);
}

/*
 * counters                           sender           receiver
 * context-switches                    1,204              2,811
 */
static void print_counters(const struct record *r, const struct report_page *p)
{
	struct pass_view pass = record_shown(r);
	bool scaled = false, any = false;
	char heads[80];

	snprintf(heads, sizeof(heads), "\n%-22s %17s  %17s", "counters", "sender", "receiver");
	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_value *tx = &pass.counters[END_SENDER][i];
		const struct counter_value *rx = &pass.counters[END_RECEIVER][i];

		/* What neither end has is told at the end, once for its reason. */
		if (!tx->known && !rx->known)
			continue;
		if (!any)
			print_heads(p, heads);
		any = true;
		fprintf(p->out, "%-22s", counter_name(i));
		print_counter(tx, i, " ", p);
		print_counter(rx, i, "", p);
		fputc('\n', p->out);
		scaled |= tx->scaled || rx->scaled;
	}
	if (scaled)
		fprintf(p->out, "  * shared its hardware counter with others: scaled up\n");
}

/* Of the accesses of a stretch, or of a message, those that missed each level. */
static void print_misses(const uint64_t *count, double by, FILE *out)
{
	for (int i = MARKER_L1D_MISSES; i <= MARKER_LLC_MISSES; i++)
		fprintf(out, " %11.2f", count[i] / by);
}

static void print_modelled_row(const char *name, const char *where, const uint64_t *count, double messages,
		      FILE *out)
{
	fprintf(out, "%-11s %-9s %13.1f", name, where, count[MARKER_INSTRUCTIONS] / messages);
	print_misses(count, messages, out);
	fputc('\n', out);
}

static void print_ends(const struct modelled *m, double messages, FILE *out)
{
	for (unsigned int role = 0; role < MARKER_ROLES; role++) {
		for (unsigned int context = 0; context < MARKER_CONTEXTS; context++) {
			uint64_t count[MARKER_COUNTS];

			/* What other tasks did besides has no message. */
			if (!role && context != MARKER_SOFTIRQ)
				continue;
			for (int i = 0; i < MARKER_COUNTS; i++)
				count[i] = model_sum(m, role, context, i);
			if (count[MARKER_INSTRUCTIONS])
				print_modelled_row(model_role_name(role), model_context_name(context), count,
					  messages, out);
		}
	}
}

static void print_modelled_sites(const struct modelled *m, double messages, FILE *out)
{
	for (int site = MODEL_ELSEWHERE + 1; site < MODEL_SITES; site++) {
		uint64_t count[MARKER_COUNTS] = { 0 };

		for (int cell = 0; cell < MARKER_ROLES * MARKER_CONTEXTS; cell++)
			for (int i = 0; i < MARKER_COUNTS; i++)
				count[i] += m->count[cell / MARKER_CONTEXTS][cell % MARKER_CONTEXTS][site][i];
		if (count[MARKER_INSTRUCTIONS])
			print_modelled_row(model_site_name(site), "site", count, messages, out);
	}
}

static void print_modelled(const struct record *r, const struct report_page *p)
{
	struct pass_view pass = record_shown(r);
	const struct modelled *m = pass.modelled;
	FILE *out = p->out;
	double messages;
	char line[256];

	if (!m->asked)
		return;
	if (!m->known) {
		page_text(p, "\nmodelled       not known: ", m->why, 15);
		return;
	}
	messages = pass.app[END_RECEIVER].sum.messages;
	if (!messages)
		return;
	snprintf(line, sizeof(line), "caches of %s by an emulator, not measured; instructions are exact",
		 m->caches.name);
	page_text(p, "\nmodelled       ", line, 15);
	fprintf(out, "%-11s %-9s %13s %11s %11s %11s\n", "a message", "", "instructions", "L1d misses",
		"L2 misses", "LLC misses");
	print_ends(m, messages, out);
	print_modelled_sites(m, messages, out);
}

/*
 * cost of calls       calls left out    ns/call  cycles/call instr./call per byte
 * send_call              23        0      5,120        4,871       4,871    1.190
 */
static void print_number(FILE *out, bool known, double number, int width)
{
	char text[32];

	if (!known) {
		fprintf(out, " %*s", width, "-");
		return;
	}
	number_text(number + 0.5, text);
	fprintf(out, " %*s", width, text);
}

static void print_row(const struct cost_value *v, const char *name, const struct report_page *p)
{
	FILE *out = p->out;
	const struct cost_sums *s = &v->sums;
	const struct cost_event *instructions = &v->event[COUNTER_INSTRUCTIONS];
	const struct cost_event *cycles = &v->event[COUNTER_CYCLES];

	fprintf(out, "%-14s", name);
	print_number(out, true, s->calls, 10);
	print_number(out, true, s->moved_calls + s->slept_calls, 8);
	if (!v->known) {
		fputc('\n', out);
		page_text(p, "  not measured: ", v->why, 4);
		return;
	}
	print_number(out, true, (double)s->time_ns / s->calls, 10);
	print_number(out, cycles->known, (double)cycles->value / s->calls, 12);
	print_number(out, instructions->known, (double)instructions->value / s->calls, 11);
	if (instructions->known && s->bytes)
		fprintf(out, " %8.3f", (double)instructions->value / s->bytes);
	fputc('\n', out);
}

static void print_own(const struct record *r, const struct report_page *p)
{
	const struct cost_value *v = &r->cost[COST_empty];
	char line[2 * WHY_BYTES];
	int used;

	if (!v->known) {
		snprintf(line, sizeof(line), "the cost of the probes themselves was not measured: %s", v->why);
		page_text(p, "  ", line, 2);
		return;
	}
	used = snprintf(line, sizeof(line), "of which the probes themselves take about %llu ns",
			v->sums.least_ns);
	if (v->event[COUNTER_INSTRUCTIONS].known)
		used += snprintf(line + used, sizeof(line) - used, ", %llu instructions",
				 v->sums.least[COUNTER_INSTRUCTIONS]);
	snprintf(line + used, sizeof(line) - used, " a call; calls lie inside each other");
	page_text(p, "  ", line, 2);
}

/* Calls that are in no row. */
static void print_left_out(const struct record *r, const struct report_page *p)
{
	uint64_t moved = 0, slept = 0;

	for (enum cost c = 0; c < COST_empty; c++) {
		moved += r->cost[c].sums.moved_calls;
		slept += r->cost[c].sums.slept_calls;
	}
	if (moved || slept)
		fprintf(p->out, "  left out: %" PRIu64 " calls that slept, %" PRIu64
			" that changed the CPU\n", slept, moved);
}

static void print_costs(const struct record *r, const struct report_page *p)
{
	const char *note = costs_time_note(r);
	char heads[96];

	if (!r->cost_asked)
		return;
	if (*r->cost_why) {
		fputc('\n', p->out);
		page_text(p, "cost of calls  not measured: ", r->cost_why, LABEL_COLUMNS);
		return;
	}
	snprintf(heads, sizeof(heads), "\n%-14s %10s %8s %10s %12s %11s %8s", "cost of calls", "calls",
		 "left out", "ns/call", "cycles/call", "instr./call", "per byte");
	print_heads(p, heads);
	for (enum cost c = 0; c < COST_empty; c++) {
		const struct cost_sums *s = &r->cost[c].sums;

		if (s->calls || s->moved_calls || s->slept_calls)
			print_row(&r->cost[c], cost_name(c), p);
	}
	print_own(r, p);
	print_left_out(r, p);
	if (*note)
		page_text(p, "  ", note, 2);
}

static void share_per_byte(uint64_t bytes, uint64_t accepted, char text[static AMOUNT_BYTES])
{
	double share = accepted ? (double)bytes / accepted : 0;

	if (!accepted)
		strcpy(text, "-");
	else if (bytes && share < 0.0005)
		strcpy(text, "< 0.001");
	else
		snprintf(text, AMOUNT_BYTES, "%.3f", share);
}

static void print_bytes(const struct record *r, const struct report_page *p)
{
	uint64_t accepted = books_accepted(&r->derived.total);
	uint64_t messages = record_app(r, END_RECEIVER)->sum.messages;
	struct site_texts texts[SITE_COUNT] = { 0 };

	for (enum site s = 0; s < SITE_COUNT; s++) {
		uint64_t bytes = r->sites[s].tally.bytes;

		share_per_byte(bytes, accepted, texts[s].share);
		if (messages)
			snprintf(texts[s].each, AMOUNT_BYTES, "%.1f", (double)bytes / messages);
		else
			strcpy(texts[s].each, "-");
	}
	if (r->backend != BACKEND_NONE)
		print_sites(r->sites, texts, "per byte", "bytes/message", p);
	print_causes(&r->measured, accepted, p);
}

/* 22,820 page references in all, 22.8 a send, 797 at once at most; all were released */
static void print_pins(const struct record *r, const struct report_page *p)
{
	const struct pins *pins = &r->pins;
	char pages[AMOUNT_BYTES], released[AMOUNT_BYTES], peak[AMOUNT_BYTES], line[256];
	int used;

	number_text(pins->pages, pages);
	number_text(pins->released_pages, released);
	number_text(pins->peak_pages, peak);
	if (pins->how == HOW_NOT_MEASURED) {
		print_labelled(p, "pins", "not measured");
		return;
	}
	used = snprintf(line, sizeof(line), "%s%s page references in all, %.1f a send",
			pins->how == HOW_DERIVED ? "at most " : "", pages,
			(double)pins->pages / r->derived.total.count[COUNT_zerocopy_sends]);
	if (pins->peak_how != HOW_NOT_MEASURED)
		used += snprintf(line + used, sizeof(line) - used, ", %s at once at most", peak);
	if (pins->released_how != HOW_NOT_MEASURED)
		snprintf(line + used, sizeof(line) - used, "; %s released",
			 pins->released_pages == pins->pages ? "all were" : released);
	print_labelled(p, "pins", line);
}

static void print_completions(const struct record *r, const struct report_page *p)
{
	const struct app_totals *totals = record_app(r, END_SENDER);
	char sends[AMOUNT_BYTES], read[AMOUNT_BYTES], copied[AMOUNT_BYTES], line[160];

	number_text(r->derived.total.count[COUNT_zerocopy_sends], sends);
	number_text(totals->sum.completions, read);
	number_text(totals->sum.completions_copied, copied);
	if (totals->completions_read)
		snprintf(line, sizeof(line), "%s read for %s zero-copy sends, %s said COPIED", read, sends,
			 copied);
	else
		snprintf(line, sizeof(line), "never read by the workload, for %s zero-copy sends", sends);
	print_labelled(p, "completions", line);
}

/* Why late_copy may be more than was sent. */
static void print_sent_again(const struct record *r, const struct report_page *p)
{
	uint64_t bytes = r->derived.total.count[COUNT_retrans_referenced_bytes];
	char again[AMOUNT_BYTES], line[160];

	if (!bytes)
		return;
	amount_text(p, bytes, again);
	snprintf(line, sizeof(line), "%s%s of your pages left twice (retransmissions): what is copied on its way "
		 "is at late_copy twice", again, p->exact ? " bytes" : "");
	print_labelled(p, "sent again", line);
}

/* ENOBUFS        1,204 sends were refused (ENOBUFS, memlock): too many pages are in flight: ... */
static void print_refusal(const struct cause *c, bool first, const struct report_page *p)
{
	char sends[AMOUNT_BYTES], line[400];

	number_text(c->tally.calls, sends);
	snprintf(line, sizeof(line), "%s send%s refused and repeated (%s): %s", sends,
		 c->tally.calls == 1 ? " was" : "s were", c->name, c->remedy);
	print_labelled(p, first ? "ENOBUFS" : "", line);
}

static void print_zerocopy(const struct record *r, const struct report_page *p)
{
	bool sends = r->derived.total.count[COUNT_zerocopy_sends];
	int refusals = 0;

	for (int i = 0; i < r->cause_count; i++)
		refusals += !r->causes[i].bytes_known;
	if (!sends && !refusals)
		return;
	fputc('\n', p->out);
	if (sends) {
		print_pins(r, p);
		print_completions(r, p);
		print_sent_again(r, p);
	}
	refusals = 0;
	for (int i = 0; i < r->cause_count; i++)
		if (!r->causes[i].bytes_known)
			print_refusal(&r->causes[i], !refusals++, p);
}

/* What there is to say of all of them. */
static void sum_up(int tested, int broken, const struct report_page *p, char *line, size_t size)
{
	if (!tested)
		snprintf(line, size, "none could be tested");
	else if (broken)
		snprintf(line, size, "%d of the %d that can be tested %s broken: do not trust this run", broken,
			 tested, broken == 1 ? "is" : "are");
	else
		snprintf(line, size, "%s %d law%s that can be tested balance%s to the byte%s",
			 tested == 1 ? "the" : "all", tested, tested == 1 ? "" : "s",
			 tested == 1 ? "s" : "", p->laws ? "" : "; --laws lists them");
}

/*
 * laws           all 11 laws that can be tested balance to the byte; --laws lists them
 */
static void print_laws(const struct record *r, const struct report_page *p)
{
	int tested = 0, broken = 0;
	char line[160];

	for (int i = 0; i < r->law_count; i++) {
		tested += r->laws[i].status != LAW_NOT_TESTABLE;
		broken += r->laws[i].status == LAW_BROKEN;
	}
	if (!tested && r->backend == BACKEND_NONE)
		return;
	sum_up(tested, broken, p, line, sizeof(line));
	fputc('\n', p->out);
	tint_begin(p, broken ? TINT_BAD : tested ? TINT_GOOD : TINT_BOLD);
	print_labelled(p, "laws", line);
	tint_end(p);
	print_law_rows(&r->measured, p);
}

/* How many pages were pinned at once, and whether all were released. */
static void find_pins(const struct record *r, struct lacks *all)
{
	struct lack *lack;

	if (!r->derived.total.count[COUNT_zerocopy_sends] || r->pins.released_how != HOW_NOT_MEASURED ||
	    !*r->pins.why)
		return;
	lack = lack_for(all, r->pins.why);
	lack_name(lack->sites, r->pins.how == HOW_NOT_MEASURED ? "pins" : "pins held at once and released");
}

static void find_counters(const struct record *r, struct lacks *all)
{
	struct pass_view pass = record_shown(r);
	struct lack *lack;

	for (int i = 0; i < COUNTER_COUNT; i++) {
		const struct counter_value *tx = &pass.counters[END_SENDER][i];

		if (tx->known || pass.counters[END_RECEIVER][i].known)
			continue;
		lack = lack_for(all, tx->why);
		lack_name(lack->counters, counter_name(i));
		lack->counter_count++;
	}
}

/* The kernel may run no program while certain tasks are current: perf's count of the packets tells. */
static void find_unchecked(const struct record *r, struct lacks *all)
{
	for (int i = 0; i < r->probe_count; i++) {
		const struct probe *p = &r->probes[i];
		struct lack *lack;

		if (p->status != PROBE_ATTACHED || p->perf_checked || strcmp(p->metric, "tx_copy"))
			continue;
		lack = lack_for(all, "perf counts no packets beside the programs, as it or tracefs refuses");
		lack_name(lack->sites, "whether a program ran for every packet");
		return;
	}
}

/*
 * not seen       tx_splice, reshape, rx_map; laws completion, pin: this kernel's tracepoints ...
 */
static void print_missing(const struct record *r, const struct report_page *p)
{
	struct missing missing = { .page = p };
	static struct lacks all;

	all.count = 0;
	lacks_of_sites(&all, &r->measured);
	find_pins(r, &all);
	/* Without probes most laws lack for the same reason, in the words of each. */
	if (r->backend != BACKEND_NONE)
		lacks_of_laws(&all, &r->measured);
	find_counters(r, &all);
	find_unchecked(r, &all);
	print_lacks(&missing, &all);
}

static void print_verdict(const struct record *r, const struct report_page *p)
{
	char verdict[VERDICT_BYTES];

	verdict_told(r, p->exact, verdict, sizeof(verdict));
	page_tinted(p, verdict_passed(r) ? TINT_BOLD : TINT_BAD, "", verdict, 0);
}

static void add_kernel(char *line, size_t size, const char *before, const struct record *r)
{
	bool none = r->backend == BACKEND_NONE;
	size_t used = strlen(line);

	snprintf(line + used, size - used, "%skernel %s, %s%s", before, r->machine.kernel,
		 none ? "no probes" : backend_name(r->backend), none ? "" : " backend");
}

/* 1,000 messages of 65,536 bytes, 4 connections, stream, path veth, kernel 6.12.95, trampoline backend */
static void print_head(const struct record *r, const struct report_page *p)
{
	const struct experiment *x = r->experiment;
	const struct record *far = record_far(r);
	char messages[AMOUNT_BYTES], bytes[AMOUNT_BYTES], line[384];

	number_text(record_app(r, END_RECEIVER)->sum.messages, messages);
	number_text(x->plan.bytes, bytes);
	snprintf(line, sizeof(line), "%s message%s of %s bytes, %d connection%s, %s, path %s, ", messages,
		 strcmp(messages, "1") ? "s" : "", bytes, x->plan.threads, x->plan.threads == 1 ? "" : "s",
		 x->plan.pattern, x->path.kind);
	add_kernel(line, sizeof(line), "", r);
	if (far)
		add_kernel(line, sizeof(line), "; to ", far);
	page_text(p, "\n", line, 0);
}

void report_print(const struct record *r, const struct report_page *p)
{
	print_verdict(r, p);
	print_head(r, p);
	print_timing(r, p);
	print_bytes(r, p);
	print_zerocopy(r, p);
	print_laws(r, p);
	print_counters(r, p);
	print_modelled(r, p);
	print_costs(r, p);
	print_overhead(r, p);
	print_missing(r, p);
}
