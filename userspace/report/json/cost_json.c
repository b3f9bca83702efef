// SPDX-License-Identifier: GPL-2.0
/* Prints what calls cost as JSON: null where a number is not known, and then a reason. */
#include "userspace/report/json/cost_json.h"

#include <string.h>

#include "userspace/common/json/json.h"
#include "userspace/judge/cost.h"

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

json_t *cost_json(const struct record *r, const char *name)
{
	for (enum cost c = 0; r->cost_asked && c < COST_empty; c++)
		if (!strcmp(cost_name(c), name))
			return value_json(&r->cost[c]);
	return NULL;
}

json_t *costs_json(const struct record *r)
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
