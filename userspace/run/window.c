// SPDX-License-Identifier: GPL-2.0
/* Attaches, opens, closes and reads: knows neither who is watched nor how long. */
#include "userspace/run/window.h"

#include <stdio.h>

#include "userspace/common/clock.h"
#include "userspace/run/ends/ending.h"

static int tell_refusal(const struct record *r, enum backend asked, int err)
{
	if (!ending_asked())
		fprintf(stderr, "trace_run: %s; try %s\n", r->backend_why,
			asked == BACKEND_AUTO ? "--kernel 6.12" : "--backend auto");
	return err;
}

int window_load(struct window *w, const struct probes_config *config, struct record *r)
{
	int err = r->backend == BACKEND_NONE ? 0 : probes_load(&w->probes, config, r);

	return err ? tell_refusal(r, config->backend, err) : 0;
}

int window_renew(struct window *w, struct probes *attached, const struct probes_config *config, struct record *r)
{
	w->probes = attached;
	return probes_renew(attached, config, r);
}

int window_attach(struct window *w, enum backend asked, struct record *r)
{
	int err = w->probes ? probes_attach(w->probes, r) : 0;

	return err ? tell_refusal(r, asked, err) : 0;
}

int window_open(struct window *w)
{
	w->opened_ns = monotonic_ns();
	return w->probes ? probes_open_gate(w->probes) : 0;
}

void window_close(struct window *w, struct record *r)
{
	if (w->probes)
		probes_close_gate(w->probes, r);
	r->window_ns = monotonic_ns() - w->opened_ns;
}

int window_read(const struct window *w, struct record *r)
{
	int err = w->probes ? probes_read_programs(w->probes, r) : 0;

	return err || !w->probes ? err : probes_read(w->probes, &r->ledger);
}

void window_free(struct window *w)
{
	probes_free(w->probes);
}
