// SPDX-License-Identifier: GPL-2.0
/* The report's table of what calls cost. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/cost.h"
#include "userspace/report/report_parts.h"

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
		print_folded(out, p->columns, "  not measured: ", v->why, 4);
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
		print_folded(p->out, p->columns, "  ", line, 2);
		return;
	}
	used = snprintf(line, sizeof(line), "of which the probes themselves take about %llu ns",
			v->sums.least_ns);
	if (v->event[COUNTER_INSTRUCTIONS].known)
		used += snprintf(line + used, sizeof(line) - used, ", %llu instructions",
				 v->sums.least[COUNTER_INSTRUCTIONS]);
	snprintf(line + used, sizeof(line) - used, " a call; calls lie inside each other");
	print_folded(p->out, p->columns, "  ", line, 2);
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

void print_costs(const struct record *r, const struct report_page *p)
{
	const char *note = costs_time_note(r);
	char heads[96];

	if (!r->cost_asked)
		return;
	if (*r->cost_why) {
		fputc('\n', p->out);
		print_folded(p->out, p->columns, "cost of calls  not measured: ", r->cost_why, LABEL_COLUMNS);
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
		print_folded(p->out, p->columns, "  ", note, 2);
}
