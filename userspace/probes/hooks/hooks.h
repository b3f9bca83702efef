/* SPDX-License-Identifier: GPL-2.0 */
/* The table of hooks: which program counts which metric at which kernel function. */
#ifndef COPYSCOPE_HOOKS_H
#define COPYSCOPE_HOOKS_H

#include "bpf/include/sites.h"

enum hook_kind { HOOK_FENTRY, HOOK_FEXIT, HOOK_TRACEPOINT, HOOK_USDT };

enum hook_rank {
	HOOK_PLAIN,
	HOOK_NEEDED,	/* without it or a stand-in the books would be wrong, not short */
	HOOK_ELSE,	/* stands in if no other row of its metric can be attached */
};

struct hook {
	const char *program;	/* name of the BPF program */
	const char *metric;	/* site name, or "accepted", "returned", "completions", ... */
	enum hook_kind kind;
	const char *target;	/* kernel function, tracepoint, or provider:name */
	int args;		/* arguments that this program is written for; 0: any */
	const char *event;	/* the tracepoint in tracefs if it is hit in softirq, else NULL */
	enum seen_hook seen;	/* then: which of the program's counts of hits */
	enum hook_rank rank;
};

/* Both end with a NULL program. */
extern const struct hook trampoline_hooks[];
extern const struct hook tracepoint_hooks[];

/* "fexit/tcp_sendmsg_locked", as in the record. */
const char *hook_kind_name(enum hook_kind kind);

#endif
