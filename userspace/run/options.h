/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of trace_run. */
#ifndef COPYSCOPE_OPTIONS_H
#define COPYSCOPE_OPTIONS_H

#include <stdbool.h>

#include "userspace/path/path.h"
#include "userspace/record/plan.h"
#include "userspace/record/record.h"

struct options {
	struct workload_plan plan;
	struct path_request request;
	enum backend backend;
	const char *json;	/* file, "-" for stdout, NULL for results/runs/ID.json */
	bool quiet;
	bool tells;		/* the record goes to stdout, too, for tools/lib/copyscope/dispatch/run.py */
	bool seconds_given;
	bool receiver_given;
	bool no_probes;		/* one pass, timed */
	bool both;		/* two passes: timed, then counted */
	bool pass_given;
	bool verify;		/* check content without probes, too */
	bool cost;		/* measure what calls cost */
	bool borrows;		/* hooks that others attached do for it: it makes one pass, with probes, here */
	const char *detach;	/* --break: see options.c */
	enum fault_inject fault_inject;
	int64_t bound_ms;	/* --break bounds: of each wait; 0: the usual ones */
};

/* Parses, or exits with 2 and one line that names what to do. */
void options_parse(int argc, char **argv, struct options *o);

#endif
