// SPDX-License-Identifier: GPL-2.0
/* Decides which sums of measured calls are known, scaled, or a 0 that no counter counted. */
#include "userspace/judge/cost.h"

#include <stdio.h>
#include <string.h>

/* More instructions than this without a single cache miss are not credible. */
enum { BUSY_INSTRUCTIONS = 1000000 };

static uint64_t scaled_up(const struct event_span *span)
{
	return ((unsigned __int128)span->count * span->enabled_ns + span->running_ns / 2) /
	       span->running_ns;
}

static void event_fill(struct cost_value *cost, int e, const char *refusal)
{
	const struct event_span *span = &cost->sums.event[e];
	uint64_t instructions = cost->sums.event[COUNTER_INSTRUCTIONS].count;
	struct cost_event *event = &cost->event[e];
	const char *why = "";

	if (*refusal)
		why = refusal;
	else if (!cost->known)
		why = cost->why;
	else if (!span->running_ns)
		why = "never got a hardware counter";
	else if (!span->count && (e <= COUNTER_INSTRUCTIONS || instructions > BUSY_INSTRUCTIONS))
		why = "opened but counted nothing";
	snprintf(event->why, sizeof(event->why), "%s", why);
	event->known = !*why;
	event->scaled = event->known && span->running_ns < span->enabled_ns;
	event->value = event->scaled ? scaled_up(span) : span->count;
}

static void cost_fill(struct record *r, struct cost_value *cost)
{
	const struct cost_sums *s = &cost->sums;

	if (*r->cost_why)
		snprintf(cost->why, WHY_BYTES, "%s", r->cost_why);
	else if (!*cost->why && !s->calls)
		snprintf(cost->why, WHY_BYTES, "%s", s->moved_calls + s->slept_calls ?
			 "each call slept or moved to another CPU" : "it was not called");
	cost->known = !*cost->why;
	for (int e = 0; e < COST_EVENTS; e++)
		event_fill(cost, e, r->cost_event_why[e]);
}

void costs_fill(struct record *r)
{
	if (r->cost_asked && r->backend == BACKEND_TRACEPOINT)
		snprintf(r->cost_why, WHY_BYTES, "a tracepoint has no end to measure to; needs the "
			 "trampoline backend: run with --kernel 6.12");
	for (enum cost c = 0; r->cost_asked && c < COST_COUNT; c++)
		cost_fill(r, &r->cost[c]);
}

const char *costs_time_note(const struct record *r)
{
	return r->machine.instruction_clock ?
		       "this emulated machine's clock counts instructions, 1 ns each" :
	       r->machine.emulated ? "times of an emulated machine mean nothing" : "";
}
