// SPDX-License-Identifier: GPL-2.0
/* Attaches, opens, waits, closes and reads: the one place where the order of these matters. */
#include "userspace/run/window.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/record/plan.h"
#include "userspace/run/ends/ending.h"
#include "userspace/run/limits/privileges.h"

enum { SETTLE_MS = 2000, SETTLE_INTERRUPTED_MS = 100 };

static int tell_refusal(const struct record *r, enum backend asked, int err)
{
	if (!ending_asked())
		fprintf(stderr, "trace_run: %s; try %s\n", r->backend_why,
			asked == BACKEND_AUTO ? "--kernel 6.12" : "--backend auto");
	return err;
}

/* An end on another host has no process here: the probes then look for one process twice. */
static const struct child *child_at(const struct child children[END_COUNT], enum end end)
{
	return &children[children[end].pid ? end : END_COUNT - 1 - end];
}

static bool readable(void *window)
{
	const struct window *w = window;

	return !w->probes || probes_readable(w->probes);
}

int window_prepare(struct window *w, const struct options *options, const char *workload,
		   struct child children[END_COUNT], struct record *r)
{
	struct probes_config config = {
		.backend = options->backend,
		.tgid = { child_at(children, END_SENDER)->tgid,
			  child_at(children, END_RECEIVER)->tgid },
		.netns = { children[END_SENDER].netns, children[END_RECEIVER].netns },
		.sender_pid = child_at(children, END_SENDER)->pid,
		.references = plan_references(&r->plan),
		.sockets = 2 * r->plan.threads,
		.workload_path = workload,
		.fault_inject = options->fault_inject,
		.detach = options->detach,
	};
	int err = 0;

	w->bound_ms = options->bound_ms;
	if (r->backend != BACKEND_NONE) {
		if (!config.tgid[END_SENDER] || !config.tgid[END_RECEIVER]) {
			fprintf(stderr, "trace_run: the kernel does not tell by which number programs "
				"know the workload: no byte could be counted\n");
			return -EPERM;
		}
		err = probes_load(&w->probes, &config, r);
	}
	if (err)
		return tell_refusal(r, options->backend, err);
	for (int e = 0; e < END_COUNT; e++)
		if (children[e].pid && child_wait_ready(&children[e]))
			return -EPIPE;
	if (ending_asked())
		return -EINTR;
	err = w->probes ? probes_attach(w->probes, r) : 0;
	if (err)
		return tell_refusal(r, options->backend, err);
	for (int e = 0; e < END_COUNT; e++)
		if (children[e].pid)
			counters_open(&w->counters[e], children[e].pid, NULL);
	err = privileges_drop(readable, w);
	if (err)
		fprintf(stderr, "trace_run: cannot drop privileges: %s\n", strerror(-err));
	return err;
}

static void on_tick(void *arg)
{
	struct window *w = arg;

	if (w->progress)
		fprintf(stderr, "\r  running, %.1f s ", (monotonic_ns() - w->opened_ns) / 1e9);
	if (w->watch)
		w->watch(w->watch_arg);
}

/* Pages are released when the peer has acknowledged: that may be a moment after the last call. */
static void settle(const struct window *w)
{
	/* After a signal there is no time for what the network may still bring. */
	int most_ms = children_interrupted() ? SETTLE_INTERRUPTED_MS : SETTLE_MS;

	for (int ms = 0; ms < most_ms && probes_outstanding_pages(w->probes); ms++)
		usleep(1000);
}

int window_measure(struct window *w, struct child children[END_COUNT], struct record *r)
{
	int err;

	ending_begin(r->plan.messages ? 0 : r->plan.seconds, w->bound_ms);
	w->opened_ns = monotonic_ns();
	w->progress = isatty(STDERR_FILENO);
	if (w->probes)
		probes_open_gate(w->probes);
	for (int e = 0; e < END_COUNT; e++)
		if (w->counters[e])
			counters_enable(w->counters[e]);
	for (int e = 0; e < END_COUNT; e++)
		if (children[e].pid)
			child_release(&children[e]);
	children_collect(children, END_COUNT, on_tick, w);
	if (w->probes) {
		settle(w);
		probes_close_gate(w->probes, r);
	}
	r->window_ns = monotonic_ns() - w->opened_ns;
	if (w->progress)
		fprintf(stderr, "\r\033[K");
	for (int e = 0; e < END_COUNT; e++)
		counters_read(w->counters[e], r->counters[e]);
	err = w->probes ? probes_read(w->probes, r) : 0;
	if (!err)
		err = privileges_drop_last();
	if (err)
		fprintf(stderr, "trace_run: cannot read what was counted: %s\n", strerror(-err));
	return err;
}

void window_free(struct window *w)
{
	for (int e = 0; e < END_COUNT; e++)
		counters_close(w->counters[e]);
	probes_free(w->probes);
}
