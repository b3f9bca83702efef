// SPDX-License-Identifier: GPL-2.0
/* Prepares, releases and awaits the workload's two ends around the window of their run. */
#include "userspace/run/measure.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/system/confine.h"
#include "userspace/counters/counters.h"
#include "userspace/judge/outcome.h"
#include "userspace/record/experiment.h"
#include "userspace/run/ends/app_totals.h"
#include "userspace/run/ends/ending.h"
#include "userspace/run/ends/launch.h"
#include "userspace/tables/receivers.h"

/* Makes the subject of a run from its plan, its path and the processes that wait to be released. */

/* An end on another host has no process here: the probes then watch only the other one. */
static int workload_subject(struct subject *s, const struct child children[END_COUNT],
			    const struct experiment *x, const char *workload)
{
	s->datagrams = plan_sends_datagrams(&x->plan);
	/* Each end of a connection, and its socket for datagrams. */
	s->sockets = (s->datagrams ? 4 : 2) * x->plan.threads;
	s->references = plan_references(&x->plan);
	s->tls = plan_has_tls(&x->plan);
	s->hardware_dma = x->path.hardware_dma;
	s->usdt_path = workload;
	for (int e = 0; e < END_COUNT; e++) {
		if (!children[e].pid)
			continue;
		if (!children[e].tgid)
			return -EPERM;
		s->tgid[s->processes++] = children[e].tgid;
		s->netns[s->namespaces++] = children[e].netns;
		/* The sender's, if it is here. */
		if (!s->usdt_pid)
			s->usdt_pid = children[e].pid;
	}
	return 0;
}

/* Gives up root for good between attaching and measuring. */

/* Becomes a user whom no other program has, without capabilities and with the system calls that
 * CONFINE_MEASURE allows. 0 or -errno. */
static int privileges_drop(void)
{
	int err = confine_for_good();

	/* jansson's random start is read from a file, which cannot be opened later. */
	json_object_seed(0);
	return err ? err : confine_syscalls(CONFINE_MEASURE);
}

enum { SETTLE_MS = 2000, SETTLE_INTERRUPTED_MS = 100 };

/* -EAGAIN: other hooks are needed, or the last run's sockets are still there. */
static int borrow(struct measure *m, const struct probes_config *config, struct record *r)
{
	struct lent *lent = m->lent;

	m->asked = !lent->probes || !probes_fit(&lent->had.config, config) ||
		   window_renew(&m->window, lent->probes, config, r);
	if (m->asked)
		lent_need(lent->asked, config);
	else
		lent_accept(lent);
	return m->asked ? -EAGAIN : 0;
}

static int load(struct measure *m, const struct options *options, const char *workload,
		const struct child children[END_COUNT], struct record *r)
{
	struct subject subject = {};
	struct probes_config config = {
		.subject = &subject,
		.backend = options->backend,
		.fault_inject = options->fault_inject,
		.detach = options->detach,
	};
	int err;

	if (r->backend != BACKEND_NONE &&
	    workload_subject(&subject, children, r->experiment, workload)) {
		fprintf(stderr, "trace_run: the kernel does not return the number by which BPF "
			"programs know the workload: they could count no byte\n");
		return -EPERM;
	}
	err = m->lent && r->backend != BACKEND_NONE ? borrow(m, &config, r) : window_load(&m->window, &config, r);
	if (!err && subject.tls && r->backend == BACKEND_TRACEPOINT) {
		fprintf(stderr, "trace_run: kernel TLS is counted with trampolines alone: leave --backend out, or use "
			"--kernel 6.12 or --pass timed\n");
		return -ENOTSUP;
	}
	return err;
}

int measure_prepare(struct measure *m, const struct options *options, const char *workload,
		    struct child children[END_COUNT], struct record *r)
{
	int err = load(m, options, workload, children, r);

	m->bound_ms = options->bound_ms;
	if (err)
		return err;
	for (int e = 0; e < END_COUNT; e++)
		if (children[e].pid && child_wait_ready(&children[e]))
			return -EPIPE;
	if (ending_asked())
		return -EINTR;
	err = window_attach(&m->window, options->backend, r);
	if (err)
		return err;
	for (int e = 0; e < END_COUNT; e++)
		if (children[e].pid)
			counters_open(&m->counters[e], children[e].pid, NULL);
	cpu_clocks_open(&m->clocks);
	/* Of two hosts nobody arranged the devices: they have strangers' bytes, too. */
	progress_open(&m->progress, children[END_SENDER].pid ? children[END_RECEIVER].pid : 0);
	err = r->experiment->plan.modelled ? model_prepare(&m->model) : 0;
	if (err)
		return err;
	err = privileges_drop();
	if (err)
		fprintf(stderr, "trace_run: cannot drop privileges: %s\n", strerror(-err));
	return err;
}

static void on_tick(void *arg)
{
	struct measure *m = arg;

	progress_step(&m->progress, monotonic_ns() - m->window.opened_ns);
	if (m->watch)
		m->watch(m->watch_arg);
}

/* The kernel releases pages when the peer has acknowledged: maybe a moment after the last call. */
static void settle(const struct window *w)
{
	/* After a signal there is no time to wait for the network. */
	int most_ms = children_interrupted() ? SETTLE_INTERRUPTED_MS : SETTLE_MS;

	for (int ms = 0; w->probes && ms < most_ms && probes_outstanding_pages(w->probes); ms++)
		usleep(1000);
}

/* The kernel gives no TLS to a socket whose other end has closed (tls_init() in net/tls/tls_main.c), as a short stream
 * soon does: the sender accepts when the receiver has TLS on all connections, which wait in the backlog meanwhile. */
static void release(struct measure *m, struct child children[END_COUNT], const struct workload_plan *plan)
{
	struct child *sender = &children[END_SENDER], *receiver = &children[END_RECEIVER];

	for (int e = 0; e < END_COUNT; e++)
		if (m->counters[e])
			counters_enable(m->counters[e]);
	if (receiver->pid)
		child_release(receiver);
	if (sender->pid && receiver->pid && receiver_has(plan->receiver, RECEIVER_TLS))
		child_wait_ready(receiver);
	if (sender->pid)
		child_release(sender);
}

/* Nanoseconds that both ends ran, by the scheduler's clock, which has the time of context switches, too;
 * task-clock of perf has not. */
static int64_t ends_ran_ns(const struct child children[END_COUNT])
{
	int64_t sum = 0;

	for (int e = 0; e < END_COUNT; e++)
		sum += children[e].used_ns;
	return sum;
}

int measure_run(struct measure *m, struct child children[END_COUNT], struct record *r)
{
	struct experiment *x = r->experiment;
	struct cpu_time from = cpu_time_read(&m->clocks), to;
	int err;

	ending_begin(m->seconds, m->bound_ms);
	progress_step(&m->progress, 0);
	err = window_open(&m->window);
	if (err) {
		fprintf(stderr, "trace_run: cannot open the window: %s\n", strerror(-err));
		return err;
	}
	model_open(&m->model);
	release(m, children, &x->plan);
	children_collect(children, END_COUNT, on_tick, m);
	to = cpu_time_read(&m->clocks);
	settle(&m->window);
	model_close(&m->model, &r->experiment->modelled);
	window_close(&m->window, r);
	progress_close(&m->progress);
	for (int e = 0; e < END_COUNT; e++)
		counters_read(m->counters[e], x->counters[e]);
	x->asked_s = m->seconds;
	x->cpu = children[END_SENDER].pid && children[END_RECEIVER].pid ?
			 cpu_shares_between(&from, &to, ends_ran_ns(children)) :
			 (struct cpu_shares){ .doubt = CPU_TWO_HOSTS };
	err = window_read(&m->window, r);
	if (err)
		fprintf(stderr, "trace_run: cannot read what was counted: %s\n", strerror(-err));
	return err;
}

void measure_hear_ends(const struct child children[END_COUNT], struct experiment *x)
{
	for (int e = 0; e < END_COUNT; e++) {
		if (!children[e].pid)
			continue;
		app_totals_parse(&children[e], &x->app[e]);
		end_outcome_read(&x->ends.end[e], children[e].status);
		x->ends.end[e].told_to_end = children[e].told_to_end;
	}
	x->ends.interrupt_signal = children_interrupted();
	snprintf(x->ends.failure, WHY_BYTES, "%s", ending_failure());
	outcome_note_told(&x->ends);
}

void measure_free(struct measure *m)
{
	for (int e = 0; e < END_COUNT; e++)
		counters_close(m->counters[e]);
	cpu_clocks_close(&m->clocks);
	progress_close(&m->progress);
	model_free(&m->model);
	window_free(&m->window);
}
