// SPDX-License-Identifier: GPL-2.0
/* The hooks of a run, by the engine: loaded, attached to its two ends, gate opened and closed, counts read. */
#include "userspace/engine/probes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/engine/call_cost.h"
#include "userspace/engine/engine_inside.h"

struct probes {
	struct engine *engine;
	struct subject subject;
	struct record *record;		/* while programs are loaded */
	int stats_fd;
	bool closed;			/* the gate was: what programs miss from then on is not of the window */
	bool attached;			/* all hooks are */
	bool lent;			/* by the process that attached them */
	struct cost_probes *cost;	/* NULL without --cost */
};

static void choose_costs(void *arg, struct programs *programs, const struct targets *targets)
{
	struct probes *p = arg;

	if (p->record->cost_asked && !programs->rodata->counts_by_tracepoint)
		p->cost = cost_probes_choose(programs->obj, targets, programs->rodata->cost_counts, p->record);
}

/* The sockets of a subject are found by their tasks: no namespace is entered. */
static void configure(struct probes *p, const struct probes_config *config, struct engine_config *c)
{
	const struct subject *s = config->subject;

	*c = (struct engine_config){
		.filter = WATCH_OF_TASKS,
		.backend = config->backend,
		.sets = HOOKS_ALWAYS | HOOKS_ZEROCOPY | HOOKS_CALLS | HOOKS_DETAIL | (s->tls ? HOOKS_TLS : 0) |
			(s->datagrams ? HOOKS_DATAGRAMS | HOOKS_SHARED : 0),
		.calls = true,
		.sockets_most = s->sockets,
		.fault_inject = config->fault_inject,
		.detach = config->detach,
		.hardware_dma = s->hardware_dma,
		.relinks = config->relinks,
		.references = s->references,
		.home_count = s->namespaces,
		.usdt_path = s->usdt_path,
		.usdt_pid = s->usdt_pid,
		.before_load = choose_costs,
		.before_load_arg = p,
	};
	memcpy(c->homes, s->netns, sizeof(c->homes));
}

/* What a record says of the programs before they count. */
static void describe(const struct probes *p, struct record *r)
{
	r->backend = engine_backend(p->engine, r->backend_why);
	r->probe_count = engine_list(p->engine, r->probes);
	r->stats_known = p->stats_fd >= 0 || number_in_file("/proc/sys/kernel/bpf_stats_enabled", 0);
}

int probes_load(struct probes **out, const struct probes_config *config, struct record *r)
{
	struct probes *p = calloc(1, sizeof(*p));
	struct engine_config engine;
	char why[WHY_BYTES] = "";
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->stats_fd = -1;
	p->subject = *config->subject;
	p->record = r;
	configure(p, config, &engine);
	err = engine_load(&p->engine, &engine, why);
	if (err) {
		snprintf(r->backend_why, WHY_BYTES, "%s", why);
		probes_free(p);
		return err;
	}
	/* The kernel then times each program, which adds 90 instructions to a run. */
	p->stats_fd = r->cost_asked ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	describe(p, r);
	*out = p;
	return 0;
}

/* Tables with room for more sockets count as exactly. */
bool probes_alike(const struct probes_config *had, const struct probes_config *wanted)
{
	const struct subject *h = had->subject, *w = wanted->subject;

	return had->backend == wanted->backend && had->fault_inject == wanted->fault_inject && h->sockets >= w->sockets &&
	       h->datagrams == w->datagrams && h->tls == w->tls && h->references >= w->references &&
	       !!h->usdt_path == !!w->usdt_path;
}

bool probes_fit(const struct probes_config *had, const struct probes_config *wanted)
{
	return probes_alike(had, wanted) && !strcmp(had->detach ?: "", wanted->detach ?: "") &&
	       had->subject->hardware_dma == wanted->subject->hardware_dma;
}

int probes_relink(struct probes *p, const struct probes_config *config)
{
	return engine_relink(p->engine, config->detach, config->subject->hardware_dma);
}

int probes_keep(struct probes *p)
{
	return engine_keep(p->engine);
}

int probes_renew(struct probes *p, const struct probes_config *config, struct record *r)
{
	const struct subject *s = config->subject;
	const struct engine_subject subject = { s->netns, s->namespaces, s->references };

	p->lent = true;
	p->subject = *s;
	p->record = r;
	describe(p, r);
	return engine_renew(p->engine, &subject);
}

static bool is_of_subject(const struct subject *s, uint32_t tgid)
{
	for (int i = 0; i < s->processes; i++)
		if (s->tgid[i] == tgid)
			return true;
	return false;
}

/* Their children are found by the programs. */
static int add_processes(struct probes *p)
{
	struct watch_row *rows;
	int count = engine_processes(p->engine, &rows), added = 0, err = count < 0 ? count : 0;

	for (int i = 0; i < count && !err; i++) {
		if (!is_of_subject(&p->subject, rows[i].task.tgid))
			continue;
		err = engine_add(p->engine, &rows[i]);
		added++;
	}
	free(rows);
	return err ? err : added < p->subject.processes ? -ESRCH : 0;
}

static int attach_hooks(struct probes *p, struct record *r)
{
	int err;

	engine_prepare_stacks(p->engine);
	err = cost_probes_attach_entries(p->cost, r);
	if (!err)
		err = engine_attach(p->engine, HOOKS_ALL, r->backend_why);
	if (!err)
		err = cost_probes_attach_exits(p->cost, r);
	p->attached = !err;
	return err;
}

int probes_attach(struct probes *p, struct record *r)
{
	int err = p->attached ? 0 : attach_hooks(p, r);

	if (err)
		return err;
	err = add_processes(p);
	/* Another host may connect before the gate opens here. */
	if (!err)
		err = engine_find_listeners(p->engine);
	if (err) {
		snprintf(r->backend_why, WHY_BYTES, "cannot tell the programs whom to count: %s", strerror(-err));
		return err;
	}
	if (p->cost)
		cost_probes_calibrate(p->cost, &p->engine->skel->bss->cost_calibrating);
	r->probe_count = engine_list(p->engine, r->probes);
	return 0;
}

int probes_open_gate(struct probes *p)
{
	return engine_open(p->engine);
}

void probes_close_gate(struct probes *p, struct record *r)
{
	__atomic_store_n(&p->engine->skel->bss->window_is_open, 0, __ATOMIC_SEQ_CST);
	r->probe_count = engine_list(p->engine, r->probes);
	p->closed = true;
}

uint64_t probes_outstanding_pages(const struct probes *p)
{
	return __atomic_load_n(&p->engine->skel->bss->gauges.outstanding_pages, __ATOMIC_SEQ_CST);
}

/* @arg: sockets of the subject in the order in which they died or were met. */
static void counted_add(void *arg, const struct watch_book *book)
{
	if (book->slot_at)
		collect(arg, &(struct counted_socket){ book->cookie, book->slot_at - 1 });
}

/* Sockets and processes for which there was no room are lost, too, and so are states of sockets that no
 * program saw. */
static void lost_note(const struct probes *p, struct ledger *ledger)
{
	struct watch_gauges gauges = engine_gauges(p->engine);

	ledger->gauges.lost_updates = gauges.lost_updates + gauges.no_slots + gauges.unbooked + gauges.lost_members +
				      gauges.lost_deaths + gauges.unseen_births + gauges.unseen_changes;
}

int probes_read(struct probes *p, struct ledger *fresh)
{
	struct collected all = { .size = sizeof(struct counted_socket) };
	const struct engine_ends ends = { .death = counted_add, .arg = &all };
	const struct watch_book *open;
	int count = engine_books(p->engine, &ends, false, &open), err;

	for (int i = 0; i < count; i++)
		counted_add(&all, &open[i]);
	err = count < 0 ? count : all.failure;
	if (!err)
		err = engine_counts(p->engine, all.items, all.count, fresh);
	if (!err)
		err = engine_stacks(p->engine, fresh);
	free(all.items);
	if (!err)
		lost_note(p, fresh);
	return err;
}

int probes_read_programs(const struct probes *p, struct record *r)
{
	if (!p->closed)
		r->probe_count = engine_list(p->engine, r->probes);
	return cost_probes_read(p->cost, r);
}

void probes_free(struct probes *p)
{
	if (!p || p->lent)
		return;
	cost_probes_free(p->cost);
	engine_free(p->engine);
	if (p->stats_fd >= 0)
		close(p->stats_fd);
	free(p);
}
