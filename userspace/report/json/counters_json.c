// SPDX-License-Identifier: GPL-2.0
/* Prints what an end cost the processors as JSON: null where it is not known, and then a reason. */
#include "userspace/report/json/counters_json.h"

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

json_t *counters_json(const struct counter_value values[COUNTER_COUNT])
{
	json_t *o = json_object();

	for (int i = 0; i < COUNTER_COUNT; i++)
		put(o, counter_name(i), counter_json(&values[i]));
	return o;
}
