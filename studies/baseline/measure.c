// SPDX-License-Identifier: GPL-2.0
/* Makes the passes of a row, judges the counting one and gathers the values of the others. */
#include "studies/baseline/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "studies/baseline/pass.h"

enum { COUNT_TRIES = 3 };

/* Share of a row's time: less than what one slice of another task takes of a quick row. */
#define MOST_WAITED 0.02

void measure_prove(struct outcome *o, const struct protocol *protocol,
		   const struct machine_info *machine)
{
	const struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.counting = true, .calls = o->row->counted_calls,
	};
	char why[WORK_WHY_BYTES] = "";
	const struct pass *p;

	o->counted_calls = request.calls;
	/* A neighbour may shift counts of the scheduler. A wrong benchmark fails every time. */
	for (int try = 0; try < COUNT_TRIES; try++) {
		p = pass_run(&request);
		if (p->err)
			break;
		o->proof = invariants_judge(o->row->invariants, ROW_INVARIANTS, o->counted_calls,
					    p->counted, o->findings, why, sizeof(why));
		if (o->proof != PROOF_BROKEN)
			break;
	}
	memcpy(o->how, p->how, sizeof(o->how));
	if (p->err) {
		o->status = NOT_MEASURED;
		snprintf(o->why, sizeof(o->why), "%s", p->why);
		return;
	}
	o->status = o->proof == PROOF_HELD ? VALID : o->proof == PROOF_BROKEN ? INVALID : UNCHECKED;
	snprintf(o->why, sizeof(o->why), "%s",
		 o->proof == PROOF_MISSING && *p->why ? p->why : why);
}

void measure_time(struct outcome *o, const struct protocol *protocol,
		  const struct machine_info *machine)
{
	struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.curve = !o->rounds && !o->point_count,
	};
	const struct pass *p;
	int at, most;

	if (o->status == NOT_MEASURED || o->status == INVALID)
		return;
	o->calls = protocol->quick ? o->row->quick_calls : o->row->calls;
	o->runs = protocol->runs;
	most = protocol->quick && o->row->most_quick_runs ? o->row->most_quick_runs :
							    o->row->most_runs;
	if (most && most < o->runs)
		o->runs = most;
	request.calls = o->calls;
	request.runs = o->runs;
	p = pass_run(&request);
	if (p->err) {
		o->status = NOT_MEASURED;
		snprintf(o->why, sizeof(o->why), "%s", p->why);
		return;
	}
	at = o->rounds++ * o->runs;
	memcpy(&o->values[at], p->values, o->runs * sizeof(double));
	memcpy(&o->trimmed[at], p->trimmed, o->runs * sizeof(double));
	if (*p->how)
		memcpy(o->how, p->how, sizeof(o->how));
	o->waited = fmax(o->waited, p->waited);
	if (p->point_count) {
		memcpy(o->points, p->points, sizeof(o->points));
		o->point_count = p->point_count;
	}
}

static void find_levels(struct machine_info *machine, const struct pass *p)
{
	const uint64_t told[LEVEL_MEMORY] = { machine->l1d_bytes, machine->l2_bytes,
					      machine->l3_bytes };
	uint64_t bytes[POINTS_MAX];
	double ns[POINTS_MAX];

	for (int i = 0; i < p->point_count; i++) {
		bytes[i] = p->points[i].x;
		ns[i] = stats_least(p->points[i].values, p->points[i].n);
	}
	levels_find(&machine->levels, bytes, ns, p->point_count, told);
}

void measure_levels(struct outcome *o, const struct protocol *protocol,
		    struct machine_info *machine)
{
	const struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.calls = protocol->quick ? o->row->quick_calls : o->row->calls, .curve = true,
	};
	const struct pass *p = pass_run(&request);

	if (p->err) {
		snprintf(machine->levels_why, sizeof(machine->levels_why), "%.*s",
			 (int)sizeof(machine->levels_why) - 1, p->why);
		return;
	}
	find_levels(machine, p);
	memcpy(o->points, p->points, sizeof(o->points));
	o->point_count = p->point_count;
}

void measure_clock(const struct outcome *o, const struct protocol *protocol,
		   struct machine_info *machine)
{
	const struct pass_request request = {
		.family = o->family, .row = o->row, .protocol = protocol, .machine = machine,
		.calls = o->row->quick_calls, .runs = protocol->runs,
	};
	const struct pass *p = pass_run(&request);

	machine->core_ghz = p->err ? 0 : stats_median(p->values, request.runs);
}

/* Runs of two modes have no one value. Others that took CPU time lengthen some runs and not the rest, which
 * looks alike: then nothing is said of modes. */
static void want_one_mode(struct outcome *o)
{
	double low, high;

	if (!o->row->one_mode || !(o->waited < MOST_WAITED) || o->status == INVALID ||
	    !stats_two_modes(o->values, o->runs * o->rounds, &low, &high))
		return;
	o->status = NOT_MEASURED;
	snprintf(o->why, sizeof(o->why), "its runs fall into two modes, %.4g and %.4g %s, though "
		 "nobody took the CPU from them: neither is the row's", low, high, o->row->unit);
}

void measure_sum(struct outcome *o)
{
	if (o->rounds)
		want_one_mode(o);
	if (o->status == VALID || o->status == UNCHECKED)
		o->spread = stats_spread_rounds(o->values, o->runs, o->rounds);
}
