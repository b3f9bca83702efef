// SPDX-License-Identifier: GPL-2.0
/* Prints what calls cost as JSON: null where a number is not known, and then a reason. */
#include "userspace/report/json/cost_json.h"

#include <string.h>

#include "userspace/judge/cost.h"

static json_t *integer_if(bool known, uint64_t value)
{
	return known ? json_integer(value) : json_null();
}

static json_t *text_or_null(const char *s)
{
	return *s ? json_string(s) : json_null();
}

static json_t *event_json(const struct cost_event *e, uint64_t value)
{
	json_t *o = json_object();

	json_object_set_new(o, "value", integer_if(e->known, value));
	json_object_set_new(o, "scaled", json_boolean(e->scaled));
	json_object_set_new(o, "why", text_or_null(e->why));
	return o;
}

static json_t *value_json(const struct cost_value *v)
{
	const struct cost_sums *s = &v->sums;
	json_t *o = json_object();

	json_object_set_new(o, "calls", integer_if(v->known, s->calls));
	json_object_set_new(o, "bytes", integer_if(v->known, s->bytes));
	json_object_set_new(o, "time_ns", integer_if(v->known, s->time_ns));
	json_object_set_new(o, "moved_calls", json_integer(s->moved_calls));
	json_object_set_new(o, "slept_calls", json_integer(s->slept_calls));
	for (int e = 0; e < COST_EVENTS; e++)
		json_object_set_new(o, counter_name(e), event_json(&v->event[e], v->event[e].value));
	json_object_set_new(o, "why", text_or_null(v->why));
	return o;
}

static json_t *own_json(const struct cost_value *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "calls", integer_if(v->known, v->sums.calls));
	json_object_set_new(o, "least_ns", integer_if(v->known, v->sums.least_ns));
	json_object_set_new(o, "mean_ns", v->known ? json_real((double)v->sums.time_ns /
							       v->sums.calls) : json_null());
	for (int e = 0; e < COST_EVENTS; e++)
		json_object_set_new(o, counter_name(e), event_json(&v->event[e], v->sums.least[e]));
	json_object_set_new(o, "why", text_or_null(v->why));
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
	json_object_set_new(o, "why", text_or_null(r->cost_why));
	json_object_set_new(o, "time_note", text_or_null(costs_time_note(r)));
	json_object_set_new(o, "probes_themselves", own_json(&r->cost[COST_empty]));
	json_object_set_new(o, "send_call", value_json(&r->cost[COST_send_call]));
	json_object_set_new(o, "recv_call", value_json(&r->cost[COST_recv_call]));
	return o;
}
