// SPDX-License-Identifier: GPL-2.0
/* Chooses hooks by the running kernel's BTF: by names and numbers of arguments. */
#include "userspace/probes/hooks/choose.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/foreign.h"
#include "userspace/probes/hooks/offer.h"

struct choice {
	const struct hook *hooks;
	const struct subject *subject;
	const char *detach;
	struct record *record;
};

static bool is_detached(const struct choice *c, const struct hook *hook)
{
	return c->detach && !strcmp(c->detach, hook->metric);
}

static bool is_chosen(const struct choice *c, const struct hook *hook)
{
	return !*c->record->probes[hook - c->hooks].why;
}

/* The hook above @hook, itself no stand-in, that answers the same question, if one was chosen. */
static const struct hook *chosen_above(const struct choice *c, const struct hook *hook)
{
	for (const struct hook *h = c->hooks; h < hook; h++)
		if (h->rank != HOOK_ELSE && !strcmp(h->metric, hook->metric) &&
		    is_chosen(c, h))
			return h;
	return NULL;
}

static bool is_stood_in_for(const struct choice *c, const struct hook *hook)
{
	for (const struct hook *h = hook; h->program; h++)
		if (h->rank == HOOK_ELSE && h->kind == hook->kind &&
		    !strcmp(h->metric, hook->metric) && is_chosen(c, h))
			return true;
	return false;
}

/* Decides for one hook before load: the record holds the reason if it stays out. */
static void choose_hook(struct choice *c, const struct hook *hook,
			const struct targets *targets)
{
	struct probe *probe = &c->record->probes[c->record->probe_count++];
	bool usdt = hook->kind == HOOK_USDT;

	probe->metric = hook->metric;
	snprintf(probe->hook, sizeof(probe->hook), "%s/%s", hook_kind_name(hook->kind),
		 hook->target);
	probe->status = PROBE_ABSENT;
	if (is_detached(c, hook))
		snprintf(probe->why, WHY_BYTES, "left off on purpose (--break detach:%s)", c->detach);
	else if (!strcmp(hook->metric, "clean") && !c->subject->hardware_dma)
		snprintf(probe->why, WHY_BYTES, "no device of this path does DMA");
	else if (usdt && !c->subject->usdt_path)
		snprintf(probe->why, WHY_BYTES, "the process has no probe of its own");
	else if ((usdt || offer_fits(targets, hook, probe->why)) && hook->rank == HOOK_ELSE &&
		 chosen_above(c, hook))
		snprintf(probe->why, WHY_BYTES, "not needed: this kernel has %s",
			 chosen_above(c, hook)->target);
}

/* -ENOTSUP if a hook is missing that the backend needs. */
static int check_needed(const struct choice *c)
{
	struct record *r = c->record;

	for (const struct hook *hook = c->hooks; hook->program; hook++) {
		if (hook->rank != HOOK_NEEDED || is_chosen(c, hook) || is_detached(c, hook) ||
		    is_stood_in_for(c, hook))
			continue;
		snprintf(r->backend_why, WHY_BYTES, "the %s backend cannot work here: %.180s",
			 backend_name(r->backend), r->probes[hook - c->hooks].why);
		return -ENOTSUP;
	}
	return 0;
}

int probes_choose(struct bpf_object *object, const struct hook *hooks,
		  const struct subject *subject, const char *detach, const struct targets *targets,
		  struct record *r)
{
	struct choice c = { .hooks = hooks, .subject = subject, .detach = detach, .record = r };
	bool found = false;
	int err;

	r->probe_count = 0;
	for (const struct hook *hook = hooks; hook->program; hook++) {
		choose_hook(&c, hook, targets);
		found |= is_detached(&c, hook);
	}
	err = check_needed(&c);
	for (const struct hook *hook = hooks; hook->program && !err; hook++)
		err = bpf_program__set_autoload(
			bpf_object__find_program_by_name(object, hook->program), is_chosen(&c, hook));
	if (err || !detach || found)
		return err;
	/* A fault that changes nothing must not look like one that was caught. */
	snprintf(r->backend_why, WHY_BYTES, "--break detach:%.60s: no hook of the %s backend is for it",
		 foreign(detach), backend_name(r->backend));
	return -EINVAL;
}
