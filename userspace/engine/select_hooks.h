/* SPDX-License-Identifier: GPL-2.0 */
/* Which hooks of the table to load on the running kernel; private to the probes module. */
#ifndef COPYSCOPE_ENGINE_SELECT_HOOKS_H
#define COPYSCOPE_ENGINE_SELECT_HOOKS_H

#include "userspace/engine/hooks.h"
#include "userspace/record/record.h"

struct targets;

/* The backend to use, and in @why (WHY_BYTES) the reason. */
enum backend select_backend(enum backend asked, const struct targets *targets, char *why);

struct targets;

/* What decides beside the kernel. */
struct hook_wishes {
	unsigned int sets;	/* of enum hook_set, those that may be attached */
	const char *detach;	/* a metric whose hooks are left off on purpose, or NULL */
	bool hardware_dma;	/* a device may read pages itself */
	bool usdt;		/* a process has the USDT probe */
};

/* Hooks that fit the wishes, in the order of the table, and what became of each: it is loaded if its .why
 * is empty. */
struct hook_choice {
	const struct hook *row[PROBES_MAX];
	struct probe probes[PROBES_MAX];
	int count;
};

/* 0, or -errno and one line in @why: a hook is missing that the backend needs. */
int hooks_choose(struct hook_choice *c, const struct hook_wishes *wishes, enum backend backend,
		 const char *backend_why, const struct targets *targets, char why[WHY_BYTES]);

/* The sets that a hook is attached with: one whose number other hooks leave is a witness. */
unsigned int hook_sets_of(const struct hook_choice *c, int i, enum backend backend);

#endif
