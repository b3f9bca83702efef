// SPDX-License-Identifier: GPL-2.0
/* Prints verdict and outcome as JSON: null where an end has no such number, and then a reason. */
#include "userspace/report/json/outcome_json.h"

#include "userspace/common/json/json.h"
#include "userspace/judge/verdict.h"

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

json_t *verdict_json(const struct record *r)
{
	json_t *o = json_object();
	struct verdict v;

	verdict_fill(r, &v);
	put(o, "sentence", text(v.sentence));
	put(o, "passed", json_boolean(v.passed));
	put_if(o, "copies_per_byte", v.copies_known ? json_real(v.copies_per_byte) : NULL);
	put_if(o, "referenced_bytes", v.referenced_known ? json_integer(v.referenced_bytes) : NULL);
	put_if(o, "uncopied_bytes", v.uncopied_known ? json_integer(v.uncopied_bytes) : NULL);
	put_if(o, "chief_cause", v.chief_cause ? text(v.chief_cause) : NULL);
	put(o, "laws_broken", json_integer(v.laws_broken));
	return o;
}

json_t *outcome_json(const struct record *r)
{
	json_t *o = json_pack("{s:s, s:o}", "status", outcome_status_name(r->outcome.status), "reason",
			      text_or_null(r->outcome.reason));

	for (int e = 0; e < END_COUNT; e++)
		put(o, e == END_SENDER ? "sender" : "receiver",
		    end_outcome_json(&r->experiment->ends.end[e]));
	return o;
}
