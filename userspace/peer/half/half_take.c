// SPDX-License-Identifier: GPL-2.0
/* Checks each field of a half that another process parsed, and takes over the valid ones. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/sound.h"
#include "userspace/peer/half/peer_half_json.h"
#include "userspace/probes/hooks/hooks.h"
#include "userspace/record/plan.h"
#include "userspace/run/ends/app_totals.h"
#include "userspace/tables/paths.h"

enum { CPUS_MOST = 1 << 16, MTU_LEAST = 68, MTU_MOST = 1 << 20, ATTEMPT_MOST = 1000, PID_MOST = 1 << 22 };

#define TEXT_SOUND(field) sound_text(field, sizeof(field))

/* A text that must not be empty. */
#define WORDS_SOUND(field) (TEXT_SOUND(field) && *(field))

/* A reason must be there if something needs one, and must be empty otherwise. */
#define WHY_SOUND(field, needed) (TEXT_SOUND(field) && !*(field) == !(needed))

static bool lockdown_sound(const char *lockdown)
{
	static const char *const modes[] = { "none", "integrity", "confidentiality",
					     "not available" };

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i], lockdown))
			return true;
	return false;
}

static bool machine_sound(const struct machine *m)
{
	return WORDS_SOUND(m->kernel) && WORDS_SOUND(m->arch) && WORDS_SOUND(m->cpu_model) &&
	       WORDS_SOUND(m->virt) && WORDS_SOUND(m->lockdown) && lockdown_sound(m->lockdown) &&
	       m->cpus > 0 && m->cpus <= CPUS_MOST && m->memory_bytes &&
	       sound_count(m->memory_bytes) && sound_flag(&m->emulated) &&
	       sound_flag(&m->instruction_clock);
}

/* Each host knows its own device; the other half supplies the other one. */
static bool path_sound(const struct path_info *p, enum end end)
{
	bool sound = true;

	for (int t = 0; t < TAP_COUNT; t++)
		sound &= sound_flag(&p->tap[t]);
	return sound && TEXT_SOUND(p->kind) && path_has(p->kind, PATH_TWO_HOSTS) && TEXT_SOUND(p->tx_dev) &&
	       TEXT_SOUND(p->rx_dev) && *(end == END_SENDER ? p->tx_dev : p->rx_dev) &&
	       p->mtu >= MTU_LEAST && p->mtu <= MTU_MOST && sound_flag(&p->scatter_gather) &&
	       sound_flag(&p->tso) && sound_flag(&p->hardware_dma) && sound_flag(&p->ipv6) &&
	       TEXT_SOUND(p->netem);
}

/* A question is one of the table of hooks, which is the same in the process that parsed. */
static bool is_metric(const char *metric)
{
	static const struct hook *const tables[] = { trampoline_hooks, tracepoint_hooks };

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (const struct hook *hook = tables[t]; hook->program; hook++)
			if (hook->metric == metric)
				return true;
	return false;
}

static bool hook_sound(const char *hook)
{
	static const char *const kinds[] = { "fentry/", "fexit/", "tp_btf/", "usdt/" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(hook, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

static bool probe_sound(const struct probe *p)
{
	bool attached = p->status == PROBE_ATTACHED;

	return is_metric(p->metric) && TEXT_SOUND(p->hook) && hook_sound(p->hook) &&
	       WHY_SOUND(p->why, !attached) && (unsigned int)p->status <= PROBE_ATTACHED &&
	       sound_count(p->runs) && sound_count(p->run_time_ns) && sound_count(p->missed_runs) &&
	       sound_flag(&p->perf_checked) && sound_count(p->missed_hits) &&
	       (attached || !(p->missed_runs || p->missed_hits || p->perf_checked));
}

static bool backend_sound(const struct record *r)
{
	if (r->probe_count < 0 || r->probe_count > PROBES_MAX)
		return false;
	for (int i = 0; i < r->probe_count; i++)
		if (!probe_sound(&r->probes[i]))
			return false;
	return (unsigned int)r->backend <= BACKEND_NONE && r->backend != BACKEND_AUTO &&
	       (r->backend == BACKEND_NONE) == !r->probe_count && WORDS_SOUND(r->backend_why) &&
	       r->experiment->attempt >= 1 && r->experiment->attempt <= ATTEMPT_MOST;
}

static bool tally_sound(const struct tally *t)
{
	return sound_count(t->bytes) && sound_count(t->calls);
}

static bool books_sound(const struct books *b)
{
	bool sound = true;

	for (int s = 0; s < SITE_COUNT; s++)
		sound &= tally_sound(&b->site[s]);
	for (int c = 0; c < COUNT_COUNT; c++)
		sound &= sound_count(b->count[c]);
	return sound;
}

static bool sites_sound(const struct record *r)
{
	bool sound = books_sound(&r->derived.total);

	for (int s = 0; s < SITE_COUNT; s++)
		sound &= (unsigned int)r->sites[s].how <= HOW_DERIVED &&
			 tally_sound(&r->sites[s].tally) &&
			 WHY_SOUND(r->sites[s].why, r->sites[s].how != HOW_MEASURED);
	return sound;
}

static bool pins_sound(const struct pins *p)
{
	return (unsigned int)p->how <= HOW_DERIVED && (unsigned int)p->released_how <= HOW_DERIVED &&
	       (unsigned int)p->peak_how <= HOW_DERIVED && sound_count(p->pages) &&
	       sound_count(p->released_pages) && sound_count(p->peak_pages) && TEXT_SOUND(p->why) &&
	       (*p->why || (p->how == HOW_MEASURED && p->released_how && p->peak_how));
}

static bool counters_sound(const struct counter_value values[COUNTER_COUNT])
{
	bool sound = true;

	for (int i = 0; i < COUNTER_COUNT; i++)
		sound &= sound_flag(&values[i].known) && sound_flag(&values[i].scaled) &&
			 sound_time_ns(values[i].value) && sound_real(values[i].running_share, 1) &&
			 WHY_SOUND(values[i].why, !values[i].known) && values[i].parts == 1;
	return sound;
}

static bool ends_sound(const struct run_ends *o, enum end end)
{
	const struct end_outcome *e = &o->end[end];

	return TEXT_SOUND(o->failure) && o->interrupt_signal >= 0 && o->interrupt_signal < NSIG &&
	       sound_flag(&e->known) && sound_flag(&e->hurried) && e->exit_status >= 0 &&
	       e->exit_status <= UINT8_MAX && e->signal >= 0 && e->signal < NSIG;
}

static bool head_sound(const struct record *r, enum end end)
{
	const struct gauges *g = &r->derived.gauges;
	const struct experiment *x = r->experiment;

	return machine_sound(&r->machine) && path_sound(&x->path, end) && backend_sound(r) &&
	       sites_sound(r) && pins_sound(&r->pins) && counters_sound(x->counters[end]) &&
	       ends_sound(&x->ends, end) && sound_flag(&x->fifo) &&
	       sound_flag(&r->stats_known) && sound_time_ns(r->window_ns) &&
	       sound_time_ns(g->first_byte_ns) && sound_count(g->lost_updates) &&
	       x->app[end].pid > 0 && x->app[end].pid <= PID_MOST;
}

static bool sockets_sound(const struct socket_books *s, int count, enum end end)
{
	for (int i = 0; i < count; i++)
		if (!s[i].cookie || (unsigned int)s[i].host != (unsigned int)end ||
		    !books_sound(&s[i].books))
			return false;
	return true;
}

static bool stacks_sound(const struct copy_stack *s, int count)
{
	for (int i = 0; i < count; i++)
		if ((unsigned int)s[i].site >= SITE_COUNT || !TEXT_SOUND(s[i].frames) ||
		    !tally_sound(&s[i].tally))
			return false;
	return true;
}

static void *copy(const void *from, size_t size)
{
	void *to = malloc(size ? size : 1);

	return to ? memcpy(to, from, size) : NULL;
}

/* Field by field: what a half does not decide stays as it was. */
static void take_head(struct record *to, const struct record *from)
{
	to->machine = from->machine;
	to->backend = from->backend;
	memcpy(to->backend_why, from->backend_why, sizeof(to->backend_why));
	memcpy(to->probes, from->probes, sizeof(to->probes));
	to->probe_count = from->probe_count;
	memcpy(to->sites, from->sites, sizeof(to->sites));
	to->derived.total = from->derived.total;
	to->derived.gauges.first_byte_ns = from->derived.gauges.first_byte_ns;
	to->derived.gauges.lost_updates = from->derived.gauges.lost_updates;
	to->derived.gauges.peak_pages = from->pins.peak_pages;
	to->pins = from->pins;
	to->stats_known = from->stats_known;
	to->window_ns = from->window_ns;
}

static void take_experiment(struct experiment *to, const struct experiment *from, enum end end)
{
	to->path = from->path;
	to->attempt = from->attempt;
	memcpy(to->counters[end], from->counters[end], sizeof(to->counters[end]));
	to->fifo = from->fifo;
	to->ends.end[end] = from->ends.end[end];
	to->ends.interrupt_signal = from->ends.interrupt_signal;
	memcpy(to->ends.failure, from->ends.failure, sizeof(to->ends.failure));
	to->app[end] = from->app[end];
	to->app[end].sockets = NULL;
	to->app[end].socket_count = 0;
}

static int take_lists(struct record *to, const struct record *from, enum end end, const char *lists)
{
	const struct app_socket *app = (const void *)lists;
	const struct socket_books *sockets = (const void *)(app + from->experiment->app[end].socket_count);
	const struct copy_stack *stacks = (const void *)(sockets + from->derived.socket_count);
	const struct app_totals *told = &from->experiment->app[end];
	struct ledger *ledger = &to->derived;
	struct app_totals *totals;

	if (!app_totals_sound(told, app) ||
	    !sockets_sound(sockets, from->derived.socket_count, end) ||
	    !stacks_sound(stacks, from->derived.stack_count))
		return -EBADMSG;
	if (record_arrange(to))
		return -ENOMEM;
	take_head(to, from);
	take_experiment(to->experiment, from->experiment, end);
	totals = &to->experiment->app[end];
	totals->sockets = copy(app, told->socket_count * sizeof(*app));
	ledger->sockets = copy(sockets, from->derived.socket_count * sizeof(*sockets));
	ledger->stacks = copy(stacks, from->derived.stack_count * sizeof(*stacks));
	if (!totals->sockets || !ledger->sockets || !ledger->stacks)
		return -ENOMEM;
	totals->socket_count = told->socket_count;
	ledger->socket_count = from->derived.socket_count;
	ledger->stack_count = from->derived.stack_count;
	return 0;
}

/* The half gives the lengths of the lists that follow it. */
static bool size_fits(const struct half *half, enum end end, size_t size)
{
	const struct ledger *ledger = &half->record.derived;
	int app = half->experiment.app[end].socket_count, sockets = ledger->socket_count;
	int stacks = ledger->stack_count;

	return app >= 0 && app <= PLAN_THREADS_MAX && sockets >= 0 && sockets <= HALF_SOCKETS_MAX &&
	       stacks >= 0 && stacks <= STACKS_MAX &&
	       size == sizeof(*half) + app * sizeof(struct app_socket) +
			       sockets * sizeof(struct socket_books) +
			       stacks * sizeof(struct copy_stack);
}

int half_take(const char *answer, size_t size, enum end end, struct record *r)
{
	struct half *half = size >= sizeof(*half) ? malloc(sizeof(*half)) : NULL;
	int err = -EBADMSG;

	if (!half)
		return err;
	memcpy(half, answer, sizeof(*half));
	half->record.experiment = &half->experiment;
	if (size_fits(half, end, size) && head_sound(&half->record, end))
		err = take_lists(r, &half->record, end, answer + sizeof(*half));
	free(half);
	return err;
}
