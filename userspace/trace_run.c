// SPDX-License-Identifier: GPL-2.0
/* Conducts a run: arrange, launch, attach, open the gate, collect, judge, report. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/confine/confine.h"
#include "userspace/common/files/record_file.h"
#include "userspace/common/files/record_keeper.h"
#include "userspace/common/files/tree.h"
#include "userspace/common/foreign.h"
#include "userspace/common/streams.h"
#include "userspace/common/system/machine.h"
#include "userspace/common/text.h"
#include "userspace/judge/causes/causes.h"
#include "userspace/judge/cost.h"
#include "userspace/judge/laws.h"
#include "userspace/judge/outcome.h"
#include "userspace/judge/sites.h"
#include "userspace/path/devices/optmem.h"
#include "userspace/peer/peer.h"
#include "userspace/report/json/record_json.h"
#include "userspace/report/report.h"
#include "userspace/run/early.h"
#include "userspace/run/ends/app_totals.h"
#include "userspace/run/ends/ending.h"
#include "userspace/run/ends/workload_argv.h"
#include "userspace/run/limits/permits.h"
#include "userspace/run/limits/room.h"
#include "userspace/run/options/options.h"
#include "userspace/run/retry.h"
#include "userspace/run/window.h"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };

struct run {
	struct options options;
	struct record record;
	struct path path;
	struct peer peer;
	struct optmem optmem;
	struct child children[END_COUNT];
	struct aside parser[END_COUNT];	/* of what each end prints */
	struct window window;
	struct record_file record_file;
	struct keeper keeper;
	struct inherited inherited;
	char workload[PATH_MAX];
	char **command;
};

/* What this host knows of the run; on path peer, then what the other one knows. */
static int gather(struct run *run)
{
	struct record *r = &run->record;
	int err;

	for (int e = 0; e < END_COUNT; e++)
		if (run->children[e].pid) {
			app_totals_parse(&run->parser[e], &run->children[e], &r->app[e]);
			end_outcome_read(&r->outcome.end[e], run->children[e].status);
			r->outcome.end[e].hurried = run->children[e].hurried;
		}
	r->outcome.interrupt_signal = children_interrupted();
	snprintf(r->outcome.failure, WHY_BYTES, "%s", ending_failure());
	outcome_note_hurried(&r->outcome);
	ledger_derive(r);
	sites_fill(r);
	err = peer_join(&run->peer, r);
	outcome_decide(r);
	return err;
}

static bool judge(struct run *run)
{
	struct record *r = &run->record;

	if (r->outcome.status == RUN_FAILED)
		fprintf(stderr, "trace_run: the run failed: %s\n", r->outcome.reason);
	causes_fill(r);
	laws_fill(r);
	outcome_excuse_laws(r);
	costs_fill(r);
	return outcome_is_sound(r) && !laws_broken(r);
}

static int tell(struct run *run)
{
	bool to_stdout = record_file_is_stdout(&run->record_file);
	int err = record_write(&run->record, run->record_file.file);

	if (!err)
		err = keeper_publish(&run->keeper, &run->record_file);
	if (err)
		fprintf(stderr, "trace_run: cannot write the record: %s\n", strerror(-err));
	if (run->options.quiet || to_stdout)
		return err;
	report_print(&run->record, stdout);
	printf("\nrecord          %s\n", foreign(run->record_file.path));
	return err;
}

static void arrange_end(struct run *run)
{
	for (int e = 0; e < END_COUNT; e++) {
		child_end(&run->children[e]);
		aside_end(&run->parser[e]);
	}
	peer_part(&run->peer);
	window_free(&run->window);
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
	int err = record_file_reserve(&run->record_file, "trace_run", run->options.json, name);

	return !err ? 0 : err == -ENOSPC ? EXIT_REFUSED : EXIT_USAGE;
}

/* All that comes before the gate. 0, or less if the run cannot begin. */
static int prepare(struct run *run)
{
	struct record *r = &run->record;
	int err = ends_launch(run->children, run->workload, &r->plan, &run->path);

	if (!err && !ending_asked())
		err = window_prepare(&run->window, &run->options, run->workload, run->children, r);
	if (!err && !ending_asked())
		err = peer_barrier(&run->peer, run->children);
	return err ? err : ending_asked() ? -EINTR : 0;
}

static int end_early(struct run *run)
{
	if (!early_describe(&run->record, run->children))
		return EXIT_REFUSED;
	peer_forgo(&run->peer, &run->record);
	outcome_decide(&run->record);
	judge(run);
	tell(run);
	return EXIT_BROKEN;
}

/* One try, in a process of its own: privileges that it drops are gone. */
static int try_once(const struct try *t, void *arg)
{
	struct run *run = arg;
	struct record *r = &run->record;
	int result = EXIT_REFUSED, err;
	char name[sizeof(r->id) + sizeof(".json")];

	err = path_check(&run->options.request);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_REFUSED;
	r->command = run->command;
	retry_begin(r, t);
	r->cost_asked = run->options.cost;
	record_name(r);
	machine_read(&r->machine);
	snprintf(name, sizeof(name), "%s.json", r->id);
	if (!run->record_file.file) {
		result = reserve(run, name);
		if (result)
			return result;
	}
	result = EXIT_REFUSED;
	if (permits_check(!run->options.no_probes, path_packet_taps(&run->options.request)))
		goto out;
	tree_path("build/workload", run->workload, sizeof(run->workload));
	for (int e = 0; e < END_COUNT; e++)
		if (app_totals_prepare(&run->parser[e]))
			goto out;
	err = peer_meet(&run->peer, &run->options, r->machine.kernel);
	if (err) {
		result = err == -EINVAL ? EXIT_USAGE : EXIT_REFUSED;
		goto out;
	}
	/* What the user named by a descriptor is open by now. */
	confine_close_inherited(&run->inherited);
	r->plan = run->options.plan;
	/* What a partner asks for is known only now. */
	if (run->peer.met && room_check(&r->plan))
		goto out;
	if (run->options.no_probes) {
		r->backend = BACKEND_NONE;
		snprintf(r->backend_why, WHY_BYTES, "the run was made without probes (--no-probes)");
	}
	if (path_arrange(&run->path, &run->options.request, &r->path) ||
	    optmem_limit(&run->optmem, &run->path, r->plan.optmem_bytes) ||
	    start_keeper(run))
		goto out;
	/* From here on there is a run to describe. */
	ending_listen();
	if (prepare(run)) {
		result = end_early(run);
		goto out;
	}
	run->window.watch = run->peer.met ? peer_watch : NULL;
	run->window.watch_arg = &run->peer;
	result = EXIT_BROKEN;
	if (window_measure(&run->window, run->children, r) || gather(run))
		goto out;
	if (!ending_asked() && retry_is_worth_it(r)) {
		result = retry_once_more(r);
		goto out;
	}
	if (judge(run))
		result = EXIT_FINE;
	if (tell(run))
		result = EXIT_BROKEN;
out:
	arrange_end(run);
	return result;
}

static int note_inherited(struct inherited *all)
{
	int err = confine_note_inherited(all);

	if (err)
		fprintf(stderr, "trace_run: cannot look at its own descriptors: %s; mount /proc\n",
			strerror(-err));
	return err;
}

int main(int argc, char **argv)
{
	struct run run = { .path = PATH_NONE, .command = argv };
	int result = 0;

	streams_open();
	streams_watch("trace_run");
	options_parse(argc, argv, &run.options);
	if (permits_look() || note_inherited(&run.inherited) ||
	    room_check(&run.options.plan))
		return EXIT_REFUSED;
	/* Held for all tries: whoever reads a pipe would take the end of the first for the whole. */
	if (run.options.json)
		result = reserve(&run, NULL);
	return result ? result : supervise(try_once, &run);
}
