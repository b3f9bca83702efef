// SPDX-License-Identifier: GPL-2.0
/* Conducts a run: arrange, launch, attach, open the gate, collect, judge, report. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/streams.h"
#include "userspace/common/system/confine.h"
#include "userspace/common/system/machine.h"
#include "userspace/common/system/record_file.h"
#include "userspace/judge/causes.h"
#include "userspace/judge/cost.h"
#include "userspace/judge/laws.h"
#include "userspace/judge/outcome.h"
#include "userspace/judge/sites.h"
#include "userspace/path/optmem.h"
#include "userspace/peer/peer.h"
#include "userspace/report/record_json.h"
#include "userspace/run/before_start.h"
#include "userspace/run/ends/ending.h"
#include "userspace/run/ends/launch.h"
#include "userspace/run/limits.h"
#include "userspace/run/measure.h"
#include "userspace/run/options.h"
#include "userspace/run/series.h"
#include "userspace/run/supervise.h"
#include "userspace/run/timed.h"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };

struct run {
	struct options options;
	struct record record;
	struct path path;
	struct peer peer;
	struct optmem optmem;
	struct child children[END_COUNT];
	struct measure measure;
	struct timed_pass *timed;		/* NULL: not asked for, or the only one */
	bool fifo;				/* the counted pass is to run under SCHED_FIFO */
	struct record_file record_file;
	struct keeper keeper;
	struct inherited inherited;
	char workload[PATH_MAX];
	char **command;
};

/* Collects what this host knows of the run; on path peer, then what the other one knows. */
static int gather(struct run *run)
{
	struct record *r = &run->record;
	int err;

	measure_hear_ends(run->children, r->experiment);
	err = ledger_derive(r);
	if (err)
		return err;
	sites_fill(r);
	err = peer_join(&run->peer, r);
	outcome_decide(r);
	return err;
}

static void judge(struct run *run)
{
	struct record *r = &run->record;

	if (r->outcome.status == RUN_FAILED || r->outcome.status == RUN_BLIND)
		fprintf(stderr, "trace_run: %s: %s\n", r->outcome.status == RUN_FAILED ?
			"the run failed" : "no verdict", r->outcome.reason);
	causes_fill(r);
	laws_fill(r);
	outcome_excuse_laws(r);
	costs_fill(r);
}

static int tell(struct run *run)
{
	bool to_stdout = record_file_is_stdout(&run->record_file);
	const struct options *o = &run->options;
	int err;

	streams_write_whole();
	err = record_write(&run->record, run->record_file.file);
	if (!err)
		err = keeper_publish(&run->keeper, &run->record_file);
	if (err)
		record_file_tell(&run->record_file, "trace_run", err);
	if (o->quiet || to_stdout)
		return err;
	/* Who prints the report may be gone: the record is kept by now. */
	if (o->tells)
		record_write(&run->record, stdout);
	if (!err)
		printf("record         %s\n", printable(run->record_file.path));
	else if (o->tells)
		puts("record");
	return err;
}

/* Judges and tells what there is. The exit status. */
static int conclude(struct run *run)
{
	judge(run);
	return tell(run) ? EXIT_BROKEN : outcome_exit_status(&run->record);
}

static void end_children(struct run *run)
{
	for (int e = 0; e < END_COUNT; e++)
		child_end(&run->children[e]);
}

static void arrange_end(struct run *run)
{
	end_children(run);
	measure_free(&run->measure);
	if (run->keeper.pid)
		keeper_end(&run->keeper);
	else
		optmem_restore(&run->optmem);
	path_dissolve(&run->path);
	record_file_abandon(&run->record_file);
	record_free(&run->record);
}

static void put_back(void *optmem)
{
	optmem_restore(optmem);
}

static int start_keeper(struct run *run)
{
	int err = keeper_start(&run->keeper, &run->record_file, put_back, &run->optmem,
			       *run->optmem.was ? run->optmem.fd : -1);

	if (err)
		fprintf(stderr, "trace_run: cannot start the keeper of the record: %s\n", strerror(-err));
	return err;
}

/* The record's file: 0, or the exit status. */
static int reserve(struct run *run, const char *name)
{
	int err = record_file_reserve(&run->record_file, "trace_run", "--json", run->options.json, name);

	return !err ? 0 : err == -ENOSPC ? EXIT_REFUSED : EXIT_USAGE;
}

/* All steps before the gate opens. 0, or less if the run cannot begin. */
static int prepare(struct run *run)
{
	struct record *r = &run->record;
	struct workload_plan plan = r->experiment->plan;
	int err;

	if (run->options.both)
		plan.seconds = pass_seconds(plan.seconds, r->experiment->during == PASS_TIMED);
	run->measure.seconds = plan.messages ? 0 : plan.seconds;
	err = ends_launch(run->children, run->workload, &plan, &run->path);
	if (!err && !ending_asked())
		err = measure_prepare(&run->measure, &run->options, run->workload, run->children, r);
	if (!err && !ending_asked())
		err = peer_barrier(&run->peer, run->children);
	return err ? err : ending_asked() ? -EINTR : 0;
}

static int end_early(struct run *run)
{
	if (!describe_unstarted(&run->record, run->children) || run->peer.far)
		return EXIT_REFUSED;
	peer_forgo(&run->peer, &run->record);
	outcome_decide(&run->record);
	return conclude(run);
}

/* In a process of its own: the pass without a probe, which it hands over. The exit status. */
static int time_pass(void *arg)
{
	struct run *run = arg;
	struct record *r = &run->record;
	int status = EXIT_FINE;

	r->backend = BACKEND_NONE;
	r->experiment->plan.unchecked = !run->options.verify;
	retry_note_schedule(r);
	if (!prepare(run))
		status = measure_run(&run->measure, run->children, r) ? EXIT_BROKEN : EXIT_FINE;
	else if (!describe_unstarted(r, run->children))
		status = EXIT_REFUSED;
	if (!status && !r->experiment->ends.before_gate)
		measure_hear_ends(run->children, r->experiment);
	if (!status)
		timed_hand_over(run->timed, r);
	end_children(run);
	return status;
}

/* The timed pass did not end well, so it is what the record describes. The exit status. */
static int end_timed(struct run *run)
{
	struct record *r = &run->record;

	snprintf(r->backend_why, WHY_BYTES, "the run %s %s",
		 r->outcome.status == RUN_INTERRUPTED ? "was interrupted" : "failed",
		 r->experiment->ends.before_gate ? "before it began" : "in its timed pass");
	if (ledger_derive(r))
		return EXIT_BROKEN;
	sites_fill(r);
	return conclude(run);
}

/*
 * Makes the timed pass, unless an earlier try has, and sets it aside. True if it is whole, so that the
 * counted one may follow; else *status is the exit status.
 */
static bool time_first(struct run *run, int *status)
{
	struct record *r = &run->record;
	struct experiment *x = r->experiment;
	enum backend backend = r->backend;
	static const struct pass none;
	char failure[WHY_BYTES] = "";
	struct pass *pass;

	x->during = PASS_TIMED;
	*status = timed_done(run->timed) ? 0 : timed_make(time_pass, run, failure);
	if (*status)
		return false;
	pass = timed_take(run->timed, failure);
	if (!pass) {
		*status = EXIT_BROKEN;
		return false;
	}
	record_describe_pass(r, pass);
	r->backend = BACKEND_NONE;
	outcome_decide(r);
	if (r->outcome.status == RUN_COMPLETE) {
		r->backend = backend;
		record_describe_pass(r, &none);
		x->timed = pass;
		x->during = PASS_COUNTED;
		return true;
	}
	free(pass);
	*status = end_timed(run);
	return false;
}

/* The run itself, from the first moment on that there is a run to describe. The exit status. */
static int conduct(struct run *run)
{
	struct record *r = &run->record;
	int status;

	ending_listen();
	if (run->timed && !time_first(run, &status))
		return status;
	if (!run->options.no_probes)
		retry_schedule(r, run->fifo);
	if (prepare(run))
		return run->measure.asked ? TRY_ATTACH : end_early(run);
	run->measure.watch = run->peer.met ? peer_watch : NULL;
	run->measure.watch_arg = &run->peer;
	if (measure_run(&run->measure, run->children, r) || gather(run))
		return EXIT_BROKEN;
	if (run->peer.far)
		return EXIT_FINE;
	if (!ending_asked() && retry_is_worth_it(r))
		return retry_once_more(r);
	return conclude(run);
}

/* Who this is, and the file that will hold the record. 0, or the exit status. */
static int begin(struct run *run, const struct try *t)
{
	struct record *r = &run->record;
	char name[sizeof(r->id) + sizeof(".json")];

	if (record_arrange(r))
		return EXIT_REFUSED;
	r->command = run->command;
	r->experiment->attempt = t->number;
	run->fifo = t->fifo;
	r->cost_asked = run->options.cost;
	measured_name(&r->measured);
	machine_read(&r->machine);
	snprintf(name, sizeof(name), "%s.json", r->id);
	return run->record_file.file || run->peer.far ? 0 : reserve(run, name);
}

/* The one static file (userspace/collector) is the workload, too. */
static void find_workload(struct run *run)
{
	if (tree_is_none)
		snprintf(run->workload, sizeof(run->workload), "/proc/self/exe");
	else
		tree_path("build/workload", run->workload, sizeof(run->workload));
}

/* Asks for all that the run will need, and the other host if there is one. 0, or the exit status. */
static int ask(struct run *run)
{
	if (permits_check(!run->options.no_probes, path_packet_taps(&run->options.request)))
		return EXIT_REFUSED;
	find_workload(run);
	if (peer_meet(&run->peer, &run->options, &run->fifo))
		return EXIT_REFUSED;
	/* Files that the user named by a descriptor are open by now. */
	confine_close_inherited(&run->inherited);
	/* Only now does a far half know what to run. */
	return run->peer.far && room_check(&run->options.plan) ? EXIT_REFUSED : 0;
}

/* The path as the plan wants it. 0, or less with one line printed. */
static int arrange(struct run *run)
{
	struct record *r = &run->record;
	struct experiment *x = r->experiment;

	x->plan = run->options.plan;
	if (!run->options.both)
		snprintf(x->pass_why, WHY_BYTES, "%s", *x->plan.alternate ? "variants that alternate are timed alone" :
			 run->options.no_probes ? "asked for: --pass timed" :
			 run->options.pass_given ? "asked for: --pass counted" :
			 "two hosts make one pass, with probes, as nothing else keeps them in step");
	if (run->options.no_probes) {
		r->backend = BACKEND_NONE;
		snprintf(r->backend_why, WHY_BYTES, "the run was made without probes (--pass timed)");
	}
	return path_arrange(&run->path, &run->options.request, &x->path) ||
	       optmem_limit(&run->optmem, &run->path, x->plan.optmem_bytes) ||
	       (!run->peer.far && start_keeper(run)) ? -1 : 0;
}

/* One try, in a process of its own, because it drops privileges for good. */
static int try_once(const struct try *t, void *arg)
{
	struct run *run = arg;
	int result = path_check(&run->options.request);

	if (result)
		return result == -EINVAL ? EXIT_USAGE : EXIT_REFUSED;
	result = begin(run, t);
	if (result)
		return result;
	result = ask(run);
	if (!result)
		result = arrange(run) ? EXIT_REFUSED : conduct(run);
	arrange_end(run);
	return result;
}

/* A far half makes one try. */
static int meet_anew(void *arg)
{
	struct run *run = arg;

	peer_end(&run->peer);
	return peer_start(&run->peer, &run->options) ? EXIT_REFUSED : 0;
}

static int note_inherited(struct inherited *all)
{
	int err = confine_note_inherited(all);

	if (err)
		fprintf(stderr, "trace_run: cannot look at its own descriptors: %s; mount /proc\n",
			strerror(-err));
	return err;
}

/* For each of the variants that the run has. */
static int rooms_check(const struct workload_plan *plan)
{
	struct workload_plan each = *plan;
	struct way_names way;

	for (int i = 0; plan_way(plan, i, &way); i++) {
		strcpy(each.variant, way.variant);
		strcpy(each.receiver, way.receiver);
		if (room_check(&each))
			return -1;
	}
	return 0;
}

/* One run, whose command line is read. The exit status, or TRY_ATTACH. */
static int run_whole(struct run *run)
{
	int result;

	if (rooms_check(&run->options.plan))
		return EXIT_REFUSED;
	/* Open for all tries: the reader of a pipe would take the end of the first for the end. */
	result = run->options.json ? reserve(run, NULL) : 0;
	if (!result && run->options.both) {
		run->timed = timed_share();
		result = run->timed ? 0 : EXIT_REFUSED;
	}
	if (!result)
		result = peer_start(&run->peer, &run->options) ? EXIT_REFUSED :
								 supervise(try_once, meet_anew, run);
	peer_end(&run->peer);
	return result;
}

static struct run the_run = { .path = PATH_NONE };	/* more than a small stack has */

/* One of many, in a process of its own. */
static int run_in_series(int argc, char **argv, struct lent *lent)
{
	the_run.command = argv;
	options_parse(argc, argv, &the_run.options);
	if (lent->alone)
		return run_whole(&the_run);
	if (!the_run.options.borrows) {
		lent->asked->none = true;
		return TRY_ATTACH;
	}
	the_run.measure.lent = lent;
	return run_whole(&the_run);
}

int main(int argc, char **argv)
{
	static const char runs[] = "--runs";

	the_run.command = argv;
	streams_open();
	streams_watch("trace_run");
	if (argc > 2 && !strcmp(argv[1], runs))
		return permits_look() || note_inherited(&the_run.inherited) ? EXIT_REFUSED :
		       series_make(argv[2], argv[0], argc - 3, argv + 3, run_in_series);
	options_parse(argc, argv, &the_run.options);
	/* Where /proc is not mounted, the first makes one. */
	return permits_look() || note_inherited(&the_run.inherited) ? EXIT_REFUSED : run_whole(&the_run);
}
