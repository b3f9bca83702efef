// SPDX-License-Identifier: GPL-2.0
/* Conducts one run: arrange, launch, attach, open the gate, collect, judge, report. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "userspace/trace/ends.h"
#include "userspace/trace/laws.h"
#include "userspace/trace/machine.h"
#include "userspace/trace/options.h"
#include "userspace/trace/probes.h"
#include "userspace/trace/record_json.h"
#include "userspace/trace/sites.h"
#include "userspace/trace/text.h"
#include "userspace/trace/tree.h"

enum { EXIT_FINE, EXIT_BROKEN, EXIT_USAGE, EXIT_REFUSED };
enum { SETTLE_MS = 2000, ATTEMPTS = 5 };

struct run {
	struct options options;
	struct record record;
	struct path path;
	struct child children[END_COUNT];
	struct probes *probes;
	struct counter_set *counters[END_COUNT];
	struct keep keep;
	char workload[PATH_MAX];
	uint64_t opened_ns;
	bool progress;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int tell_refusal(const struct run *run, int err)
{
	fprintf(stderr, "trace_run: %s; try %s\n", run->record.backend_why,
		run->options.backend == BACKEND_AUTO ? "--kernel 6.12" : "--backend auto");
	return err;
}

static int attach(struct run *run)
{
	struct record *r = &run->record;
	struct probes_config config = {
		.backend = run->options.backend,
		.tgid = { run->children[0].pid, run->children[1].pid },
		.sockets = 2 * r->plan.threads,
		.workload_path = run->workload,
		.sabotage = run->options.sabotage,
		.detach = run->options.detach,
		.count_run_time = true,
	};
	int err = r->backend == BACKEND_NONE ? 0 : probes_load(&run->probes, &config, r);

	if (err)
		return tell_refusal(run, err);
	for (int e = 0; e < END_COUNT; e++)
		if (child_wait_ready(&run->children[e]))
			return -EPIPE;
	err = run->probes ? probes_attach(run->probes, r) : 0;
	if (err)
		return tell_refusal(run, err);
	for (int e = 0; e < END_COUNT; e++)
		counters_open(&run->counters[e], run->children[e].pid, NULL);
	err = privileges_drop();
	if (err)
		fprintf(stderr, "trace_run: cannot drop privileges: %s\n", strerror(-err));
	return err;
}

static void show_progress(void *arg)
{
	struct run *run = arg;

	if (run->progress)
		fprintf(stderr, "\r  running, %.1f s ", (now_ns() - run->opened_ns) / 1e9);
}

/* Pages are released when the peer has acknowledged: that may be a moment after the last call. */
static void settle(struct run *run)
{
	for (int ms = 0; ms < SETTLE_MS && probes_outstanding_pages(run->probes); ms++)
		usleep(1000);
}

static int measure(struct run *run)
{
	struct record *r = &run->record;
	int err;

	run->opened_ns = now_ns();
	run->progress = isatty(STDERR_FILENO);
	if (run->probes)
		probes_open_gate(run->probes);
	for (int e = 0; e < END_COUNT; e++)
		if (run->counters[e])
			counters_enable(run->counters[e]);
	for (int e = 0; e < END_COUNT; e++)
		child_release(&run->children[e]);
	children_collect(run->children, END_COUNT, show_progress, run);
	if (run->probes) {
		settle(run);
		probes_close_gate(run->probes, r);
	}
	r->window_ns = now_ns() - run->opened_ns;
	if (run->progress)
		fprintf(stderr, "\r\033[K");
	for (int e = 0; e < END_COUNT; e++)
		counters_read(run->counters[e], r->counters[e]);
	err = run->probes ? probes_read(run->probes, r) : 0;
	if (err)
		fprintf(stderr, "trace_run: cannot read what was counted: %s\n", strerror(-err));
	return err;
}

static int judge(struct run *run)
{
	struct record *r = &run->record;
	int failed = 0;

	for (int e = 0; e < END_COUNT; e++) {
		if (app_totals_parse(&run->children[e], &r->app[e]) || r->app[e].exit_status) {
			fprintf(stderr, "trace_run: the workload's %s ended with status %d\n",
				e == END_SENDER ? "server" : "client", r->app[e].exit_status);
			failed = 1;
		}
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
	for (int e = 0; e < END_COUNT; e++) {
		child_end(&run->children[e]);
		counters_close(run->counters[e]);
	}
	probes_free(run->probes);
	path_dissolve(&run->path);
	keep_abandon(&run->keep);
	record_free(&run->record);
}

/* Starts over in a fresh process image, which also has the privileges that were dropped. */
static void try_again(struct run *run, char **argv)
{
	char attempt[16];

	fprintf(stderr, "trace_run: the kernel ran no program for %llu packets of this run, because "
		"they came while a task was current that it keeps from BPF; trying again\n",
		(unsigned long long)laws_unseen(&run->record));
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
	snprintf(r->path.kind, sizeof(r->path.kind), "%s", run.options.path_kind);
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
	if (path_arrange(&run.path, &r->path) || ends_launch(run.children, run.workload, &r->plan, &run.path) || attach(&run))
		goto out;
	result = EXIT_BROKEN;
	if (measure(&run))
		goto out;
	if (laws_unseen(r) && r->attempt < ATTEMPTS)
		try_again(&run, argv);
	if (!judge(&run) && !laws_broken(r))
		result = EXIT_FINE;
	if (tell(&run))
		result = EXIT_BROKEN;
out:
	arrange_end(&run);
	return result;
}
