// SPDX-License-Identifier: GPL-2.0
/* Conducts one run: arrange, launch, attach, open the gate, collect, judge, report. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/trace/ends.h"
#include "userspace/trace/laws.h"
#include "userspace/trace/machine.h"
#include "userspace/trace/options.h"
#include "userspace/trace/record_json.h"
#include "userspace/trace/sites.h"
#include "userspace/trace/text.h"
#include "userspace/trace/tree.h"
#include "userspace/trace/window.h"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };
/* A long run is more likely to be blind again, and costs more patience. */
enum { ATTEMPTS = 5, ATTEMPTS_LONG = 2, LONG_NS = 1000000000 };

struct run {
	struct options options;
	struct record record;
	struct path path;
	struct child children[END_COUNT];
	struct window window;
	struct keep keep;
	char workload[PATH_MAX];
};

static int judge(struct run *run)
{
	struct record *r = &run->record;
	int failed = 0;

	for (int e = 0; e < END_COUNT; e++) {
		r->app[e].pid = run->children[e].pid;
		if (app_totals_parse(&run->children[e], &r->app[e]) || r->app[e].exit_status) {
			fprintf(stderr, "trace_run: the workload's %s ended with status %d\n",
				e == END_SENDER ? "server" : "client", r->app[e].exit_status);
			failed = 1;
		}
	}
	/* Books that hold nothing balance, and say nothing. */
	if (!failed && !r->app[END_SENDER].sum.accepted_bytes) {
		fprintf(stderr, "trace_run: no byte was sent: give the run more --seconds\n");
		failed = 1;
	}
	ledger_derive(r);
	sites_fill(r);
	causes_fill(r);
	laws_fill(r);
	return failed;
}

static int tell(struct run *run)
{
	bool to_stdout = run->options.json && !strcmp(run->options.json, "-");
	int err = to_stdout ? record_write(&run->record, stdout)
			    : keep_commit(&run->keep, &run->record);

	if (err)
		fprintf(stderr, "trace_run: cannot write the record: %s\n", strerror(-err));
	if (run->options.quiet || to_stdout)
		return err;
	report_print(&run->record, stdout);
	printf("\nrecord          %s\n", run->keep.path);
	return err;
}

static void arrange_end(struct run *run)
{
	for (int e = 0; e < END_COUNT; e++)
		child_end(&run->children[e]);
	window_free(&run->window);
	path_dissolve(&run->path);
	keep_abandon(&run->keep);
	record_free(&run->record);
}

static bool worth_another_try(const struct record *r)
{
	return record_unseen(r, NULL) && !children_interrupted() &&
	       r->attempt < (r->window_ns < LONG_NS ? ATTEMPTS : ATTEMPTS_LONG);
}

/* Starts over in a fresh process image, which also has the privileges that were dropped. */
static void try_again(struct run *run, char **argv)
{
	char attempt[16];

	fprintf(stderr, "trace_run: the kernel ran no program for %llu packets of this run, because "
		"they came while a task was current that it keeps from BPF; trying again\n",
		(unsigned long long)record_unseen(&run->record, NULL));
	snprintf(attempt, sizeof(attempt), "%d", run->record.attempt + 1);
	setenv("COPYSCOPE_ATTEMPT", attempt, 1);
	arrange_end(run);
	execv("/proc/self/exe", argv);
	perror("trace_run: cannot start again");
	exit(EXIT_BROKEN);
}

int main(int argc, char **argv)
{
	struct run run = { .path = { .home_ns = -1, .ns = { -1, -1 } } };
	struct record *r = &run.record;
	int result = EXIT_REFUSED, err;

	options_parse(argc, argv, &run.options);
	if (machine_check())
		return EXIT_REFUSED;
	r->command = argv;
	r->plan = run.options.plan;
	r->attempt = getenv("COPYSCOPE_ATTEMPT") ? atoi(getenv("COPYSCOPE_ATTEMPT")) : 1;
	if (run.options.no_probes) {
		r->backend = BACKEND_NONE;
		snprintf(r->backend_why, WHY_BYTES, "the run was made without probes (--no-probes)");
	}
	record_name(r);
	machine_read(&r->machine);
	err = keep_reserve(&run.keep, run.options.json, r->id);
	if (err)
		return err == -ENOSPC ? EXIT_REFUSED : EXIT_USAGE;
	tree_path("build/workload", run.workload, sizeof(run.workload));
	if (path_arrange(&run.path, &run.options.wish, &r->path) ||
	    ends_launch(run.children, run.workload, &r->plan, &run.path) ||
	    window_prepare(&run.window, &run.options, run.workload, run.children, r))
		goto out;
	result = EXIT_BROKEN;
	if (window_measure(&run.window, run.children, r))
		goto out;
	if (worth_another_try(r))
		try_again(&run, argv);
	if (!judge(&run) && !laws_broken(r))
		result = EXIT_FINE;
	if (tell(&run))
		result = EXIT_BROKEN;
out:
	arrange_end(&run);
	return result;
}
