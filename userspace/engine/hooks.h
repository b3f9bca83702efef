/* SPDX-License-Identifier: GPL-2.0 */
/* The table of hooks: which program counts which metric at which kernel function, and for whom; which to load. */
#ifndef COPYSCOPE_HOOKS_H
#define COPYSCOPE_HOOKS_H

#include <stdbool.h>

#include "bpf/include/sites.h"
#include "userspace/record/record.h"

enum hook_kind { HOOK_FENTRY, HOOK_FEXIT, HOOK_TRACEPOINT, HOOK_USDT, HOOK_CGROUP };

/* Sets of hooks, as bits: each is attached at once. */
enum hook_set {
	HOOKS_ALWAYS = 1,	/* what begins and ends, sequence numbers, whatever is unusual */
	HOOKS_ZEROCOPY = 2,	/* what only zero copy needs */
	HOOKS_CALLS = 4,	/* what calls returned: a witness */
	HOOKS_DETAIL = 8,	/* pins, packets, stacks of causes; what a send asked for */
	HOOKS_TLS = 16,		/* what only kernel TLS needs */
	HOOKS_DATAGRAMS = 32,	/* what only UDP needs */
	HOOKS_QUEUES = 64,	/* and only a watch of UDP */
	HOOKS_SHARED = 128,	/* what UDP needs and TCP passes, too */
	HOOKS_SIZES = 256,	/* what only the sizes of calls need */
	HOOKS_WATCH = 512,	/* what a watch alone tells: options that were refused, what MPTCP copies */
	HOOKS_SYSCALLS = 1024,	/* options that were refused, by what each system call passes: with details */
	HOOKS_BIRTHS = 2048,	/* that a UDP socket begins or ends: of a watch, and passed by no message */
	HOOKS_ALL = 4095,
};

enum hook_rank {
	HOOK_PLAIN,
	HOOK_NEEDED,	/* without it or a stand-in the books would be wrong, not short */
	HOOK_ELSE,	/* stands in if no other row of its metric can be attached */
	HOOK_DERIVED,	/* with trampolines a witness alone: other hooks leave what it counts */
};

struct hook {
	const char *program;	/* name of the BPF program, which may be in several rows */
	const char *metric;	/* site name, or "accepted", "returned", "completions", ... */
	enum hook_kind kind;
	const char *target;	/* kernel function, tracepoint, or provider:name */
	int args;		/* arguments that this program is written for; 0: any */
	unsigned int sets;	/* of enum hook_set */
	enum hook_rank rank;
	bool without_trampolines;	/* with them other hooks do better */
	const char *event;	/* the tracepoint in tracefs if perf counts its hits beside the program, else NULL */
	enum seen_hook seen;	/* then: which of the program's counts of hits */
};

/* Ends with a NULL program. */
extern const struct hook hooks[];

/* Which of the tested kernels have a form that others lack, for documents and tests: BTF decides, no version. */
struct hook_form {
	const char *target;
	int args;
	const char *since, *until;	/* "": it has no end there */
};

/* Ends with a NULL target. */
extern const struct hook_form hook_forms[];

/* "fexit/tcp_sendmsg_locked", as in the record. */
const char *hook_kind_name(enum hook_kind kind);

/* Which of them to load on the running kernel: select_hooks.c. */

struct targets;

/* The backend to use, and in @why (WHY_BYTES) the reason. */
enum backend select_backend(enum backend asked, const struct targets *targets, char *why);

/* Whether this kernel walks the storages of sockets. Some that are locked down refuse each iterator that could write
 * into a map (EPERM at load). */
bool walks_storages(const struct targets *targets);

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

/* Leaves off what @wishes says, of hooks that were chosen for a device that does DMA and with none left off. As above. */
int hooks_leave_off(struct hook_choice *c, const struct hook_wishes *wishes, enum backend backend, char why[WHY_BYTES]);

/* True if a row of the program was chosen. */
bool hooks_want(const struct hook_choice *c, const char *program);

/* The sets that a hook is attached with: one whose number other hooks leave is a witness. */
unsigned int hook_sets_of(const struct hook_choice *c, int i, enum backend backend);

#endif
