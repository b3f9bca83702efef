// SPDX-License-Identifier: GPL-2.0
/* The report's table of what calls cost. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/text.h"
#include "userspace/judge/cost.h"

/*
 * cost of calls       calls  left out     ns/call  instructions/call     cycles/call   per byte
 * send_call              23         0       5,120              4,871           4,871       1.19
 *   tx_reference ...
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

static void print_row(const struct cost_value *v, const char *name, FILE *out)
{
	const struct cost_sums *s = &v->sums;
	const struct cost_event *instructions = &v->event[COUNTER_INSTRUCTIONS];
	const struct cost_event *cycles = &v->event[COUNTER_CYCLES];

	fprintf(out, "%-16s", name);
	print_number(out, true, s->calls, 10);
	print_number(out, true, s->moved_calls + s->slept_calls, 9);
	if (!v->known) {
		fprintf(out, "  not measured: %s\n", v->why);
		return;
	}
	print_number(out, true, (double)s->time_ns / s->calls, 11);
	print_number(out, cycles->known, (double)cycles->value / s->calls, 12);
	print_number(out, instructions->known, (double)instructions->value / s->calls, 18);
	if (instructions->known && s->bytes)
		fprintf(out, " %9.3f", (double)instructions->value / s->bytes);
	fputc('\n', out);
}

static void print_own(const struct record *r, FILE *out)
{
	const struct cost_value *v = &r->cost[COST_empty];

	if (!v->known) {
		fprintf(out, "  the cost of the probes themselves was not measured: %s\n", v->why);
		return;
	}
	fprintf(out, "  of which the probes themselves take about %llu ns", v->sums.least_ns);
	if (v->event[COUNTER_INSTRUCTIONS].known)
		fprintf(out, ", %llu instructions", v->sums.least[COUNTER_INSTRUCTIONS]);
	fprintf(out, " a call; calls lie inside each other\n");
}

void costs_print(const struct record *r, FILE *out)
{
	const char *note = costs_time_note(r);
	uint64_t moved = 0, slept = 0;

	if (!r->cost_asked)
		return;
	if (*r->cost_why) {
		fprintf(out, "\ncost of calls   not measured: %s\n", r->cost_why);
		return;
	}
	fprintf(out, "\n%-16s %10s %9s %11s %12s %18s %9s\n", "cost of calls", "calls", "left out",
		"ns/call", "cycles/call", "instructions/call", "per byte");
	for (enum cost c = 0; c < COST_empty; c++) {
		const struct cost_sums *s = &r->cost[c].sums;

		if (s->calls || s->moved_calls || s->slept_calls)
			print_row(&r->cost[c], cost_name(c), out);
		moved += s->moved_calls;
		slept += s->slept_calls;
	}
	print_own(r, out);
	if (moved || slept)
		fprintf(out, "  left out: %" PRIu64 " calls that slept, %" PRIu64 " that changed the CPU\n",
			slept, moved);
	if (*note)
		fprintf(out, "  %s\n", note);
}
