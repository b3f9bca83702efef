// SPDX-License-Identifier: GPL-2.0
/* Look-ups in what was arranged: its ends and its passes. */
#include "userspace/record/experiment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int record_arrange(struct record *r)
{
	r->experiment = calloc(1, sizeof(*r->experiment));
	return r->experiment ? 0 : -ENOMEM;
}

struct record *record_far(const struct record *r)
{
	return r->experiment->far;
}

const struct app_totals *record_app(const struct record *r, enum end end)
{
	return &r->experiment->app[end];
}

const char *metric_of_completions(const struct record *r)
{
	return plan_notified_by_ring(&r->experiment->plan) ? "rings" : "completions";
}

bool record_tapped(const struct record *r)
{
	const struct path_info *p = &r->experiment->path;

	return p->tap[TAP_TX] || p->tap[TAP_RX] || p->tap[TAP_OTHER];
}

const struct app_socket *record_app_socket(const struct record *r, const struct socket_books *books,
					   enum end *end)
{
	const struct app_totals *app;

	for (int e = 0; e < END_COUNT; e++) {
		/* On path peer each end is a host of its own. */
		if (record_far(r) && books->host != (enum end)e)
			continue;
		app = record_app(r, e);
		for (int i = 0; i < app->socket_count; i++) {
			if (app->sockets[i].cookie != books->cookie)
				continue;
			*end = e;
			return &app->sockets[i];
		}
	}
	return NULL;
}

void record_describe_pass(struct record *r, const struct pass *pass)
{
	struct experiment *x = r->experiment;

	memcpy(x->app, pass->app, sizeof(x->app));
	x->ends = pass->ends;
	memcpy(x->counters, pass->counters, sizeof(x->counters));
	x->asked_s = pass->asked_s;
	x->cpu = pass->cpu;
	x->modelled = pass->modelled;
	x->fifo = pass->fifo;
	r->window_ns = pass->window_ns;
}

static struct pass_view main_pass(const struct record *r)
{
	const struct experiment *x = r->experiment;
	struct pass_view pass = { .made = !x->ends.before_gate, .app = x->app,
				  .counters = x->counters, .modelled = &x->modelled,
				  .window_ns = r->window_ns, .asked_s = x->asked_s, .cpu = x->cpu,
				  .fifo = x->fifo };

	/* The records of both hosts are the same: neither has what the other measured of itself. */
	if (x->far) {
		pass.asked_s = x->plan.messages ? 0 : x->plan.seconds;
		pass.cpu = (struct cpu_shares){ .doubt = CPU_TWO_HOSTS };
	}
	return pass;
}

static struct pass_view first_pass(const struct pass *p)
{
	return (struct pass_view){ .made = true, .app = p->app, .counters = p->counters,
				   .modelled = &p->modelled, .window_ns = p->window_ns,
				   .asked_s = p->asked_s, .cpu = p->cpu, .fifo = p->fifo };
}

struct pass_view record_timed(const struct record *r)
{
	const struct experiment *x = r->experiment;

	return x->timed ? first_pass(x->timed) :
	       r->backend == BACKEND_NONE ? main_pass(r) : (struct pass_view){};
}

struct pass_view record_counted(const struct record *r)
{
	return r->backend != BACKEND_NONE ? main_pass(r) : (struct pass_view){};
}

struct pass_view record_shown(const struct record *r)
{
	struct pass_view timed = record_timed(r);

	return timed.made ? timed : main_pass(r);
}

double pass_gbps(const struct pass_view *pass)
{
	const struct app_totals *rx = pass->app ? &pass->app[END_RECEIVER] : NULL;

	return rx && rx->known && rx->elapsed_ns ?
		       rx->sum.received_bytes * 8.0 / rx->elapsed_ns : 0;
}

double record_throughput_ratio(const struct record *r)
{
	struct pass_view timed = record_timed(r), counted = record_counted(r);
	double without = pass_gbps(&timed);

	return timed.made && counted.made && without ? pass_gbps(&counted) / without : 0;
}

void pass_free(struct pass *pass)
{
	for (int e = 0; pass && e < END_COUNT; e++)
		free(pass->app[e].sockets);
	free(pass);
}

void experiment_free(struct experiment *x)
{
	if (!x)
		return;
	for (int e = 0; e < END_COUNT; e++) {
		free(x->app[e].sockets);
		free(x->app[e].blocks);
	}
	pass_free(x->timed);
	if (x->far)
		record_free(x->far);
	free(x->far);
	free(x);
}
