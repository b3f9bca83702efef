// SPDX-License-Identifier: GPL-2.0
/* Prints the outcome of a run as JSON: null where an end has no such number, and then a reason. */
#include "userspace/report/json/outcome_json.h"

#include "userspace/common/json/json.h"

static const char *why(const struct end_outcome *end)
{
	return !end->known ? "it was never seen to end" :
	       end->signal && end->hurried ? "it did not end when told, and was killed" :
	       end->signal ? "a signal killed it" :
	       end->hurried ? "it did not end by itself and was told to" :
	       end->exit_status ? "it failed: see its own output" : NULL;
}

json_t *end_outcome_json(const struct end_outcome *end)
{
	json_t *o = json_object();
	bool killed = end->known && end->signal;

	put(o, "exit_status", integer_if(end->known && !killed, end->exit_status));
	put(o, "signal", integer_if(killed, end->signal));
	put(o, "why", text_or_null(why(end)));
	return o;
}

json_t *outcome_json(const struct record *r)
{
	json_t *o = json_pack("{s:s, s:o}", "status", outcome_status_name(r->outcome.status), "reason",
			      text_or_null(r->outcome.reason));

	for (int e = 0; r->experiment && e < END_COUNT; e++)
		put(o, e == END_SENDER ? "sender" : "receiver",
				    end_outcome_json(&r->experiment->ends.end[e]));
	return o;
}
