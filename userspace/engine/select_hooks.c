// SPDX-License-Identifier: GPL-2.0
/* Chooses hooks by the running kernel's BTF: by names and numbers of arguments. */
#include "userspace/engine/hooks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/engine/targets.h"

/* Finds what the running kernel offers to probes, by its BTF and by trying: never by its
 * version. */

/* How many arguments a hook's function has, or its tracepoint without the context; -1 if the kernel has
 * none of that name. */
static int args_of(const struct targets *targets, const struct hook *hook)
{
	bool tracepoint = hook->kind == HOOK_TRACEPOINT;
	const struct btf *btf = targets_btf(targets);
	const struct btf_type *t;
	uint32_t id = tracepoint ? targets_tracepoint(targets, hook->target)
				 : targets_function(targets, hook->target);

	if (!id)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (tracepoint)
		t = btf__type_by_id(btf, t->type);
	return btf_vlen(t) - tracepoint;
}

/* True if the kernel has it with as many arguments as @hook reads; else @why (WHY_BYTES) has a reason. It
 * may still not be attachable. */
static bool offer_fits(const struct targets *targets, const struct hook *hook, char *why)
{
	int args = args_of(targets, hook);

	if (args < 0)
		snprintf(why, WHY_BYTES, "this kernel has no %s/%s", hook_kind_name(hook->kind),
			 hook->target);
	else if (hook->args && args != hook->args)
		snprintf(why, WHY_BYTES, "%s takes %d arguments here, this probe reads %d",
			 hook->target, args, hook->args);
	else
		return true;
	return false;
}

/* Loads an empty program for @function. */
static int try_program(const struct targets *targets, enum bpf_attach_type type, const char *function)
{
	struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type);
	int fd;

	opts.attach_btf_id = targets_function(targets, function);
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "try", "GPL", empty, 2, &opts);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

enum backend select_backend(enum backend asked, const struct targets *targets, char *why)
{
	int err;

	if (asked != BACKEND_AUTO) {
		snprintf(why, WHY_BYTES, "asked for on the command line");
		return asked;
	}
	/* Kernels under lockdown refuse every trampoline (EPERM at load). */
	err = try_program(targets, BPF_TRACE_FENTRY, "tcp_sendmsg_locked");
	if (!err) {
		snprintf(why, WHY_BYTES, "this kernel accepts trampolines (fentry/fexit)");
		return BACKEND_TRAMPOLINE;
	}
	snprintf(why, WHY_BYTES, "this kernel refuses trampolines (fentry/fexit): %s",
		 strerror(-err));
	return BACKEND_TRACEPOINT;
}

bool walks_storages(const struct targets *targets)
{
	return !try_program(targets, BPF_TRACE_ITER, "bpf_iter_bpf_sk_storage_map");
}

/* A program that counts the metric is left off whatever else it counts. */
static bool is_detached(const struct hook_wishes *w, const struct hook *hook)
{
	for (const struct hook *h = hooks; w->detach && h->program; h++)
		if (!strcmp(h->program, hook->program) && h->sets & w->sets && !strcmp(h->metric, w->detach))
			return true;
	return false;
}

static bool is_alike(const struct hook *a, const struct hook *b)
{
	return a->sets & b->sets && !strcmp(a->metric, b->metric);
}

/* The hook above the last one, itself no stand-in, that answers the same question, if one was chosen. */
static const struct hook *chosen_above(const struct hook_choice *c)
{
	const struct hook *last = c->row[c->count - 1];

	for (int i = 0; i < c->count - 1; i++)
		if (c->row[i]->rank != HOOK_ELSE && is_alike(c->row[i], last) && !*c->probes[i].why)
			return c->row[i];
	return NULL;
}

static bool is_stood_in_for(const struct hook_choice *c, int hook)
{
	for (int i = hook; i < c->count; i++)
		if (c->row[i]->rank == HOOK_ELSE && is_alike(c->row[i], c->row[hook]) && !*c->probes[i].why)
			return true;
	return false;
}

/* Of two backends; with details the hooks of one alone are told of. */
static bool is_of_other_backend(const struct hook *hook, const struct hook_wishes *w, bool trampolines)
{
	bool traced = hook->kind == HOOK_FENTRY || hook->kind == HOOK_FEXIT;

	return w->sets & HOOKS_DETAIL && (trampolines ? hook->without_trampolines : traced);
}

/* With trampolines late copies tell all that other devices do with user pages. */
static bool is_of_hardware(const struct hook *hook, bool trampolines)
{
	return !strcmp(hook->metric, "clean") || (trampolines && !strcmp(hook->metric, "devices"));
}

/* What the kernel asks of whoever loads a program of control groups. */
static bool may_load_for_cgroups(void)
{
	cap_t own = cap_get_proc();
	cap_flag_value_t set = CAP_CLEAR;

	if (own)
		cap_get_flag(own, CAP_NET_ADMIN, CAP_EFFECTIVE, &set);
	cap_free(own);
	return set == CAP_SET;
}

/* See book_drop() in bpf/include/census.bpf.h. */
static bool frees_storage_beside_walks(const struct targets *targets)
{
	return targets_function(targets, "bpf_selem_unlink_nofail");
}

/* In a watch those of runs for UDP count beside those for TCP. */
static const char *metric_of(const struct hook *hook, const struct hook_wishes *w)
{
	bool apart = w->sets & HOOKS_QUEUES && hook->sets & (HOOKS_DATAGRAMS | HOOKS_SHARED);

	return apart && !hook->without_trampolines ? "datagrams" : hook->metric;
}

/* Decides for one hook before load. */
static void choose_hook(struct hook_choice *c, const struct hook *hook, const struct hook_wishes *w,
			bool trampolines, const char *backend_why, const struct targets *targets)
{
	bool usdt = hook->kind == HOOK_USDT, traced = hook->kind == HOOK_FENTRY || hook->kind == HOOK_FEXIT;
	struct probe *probe = &c->probes[c->count];
	const struct hook *other;

	c->row[c->count++] = hook;
	*probe = (struct probe){ .metric = metric_of(hook, w), .status = PROBE_ABSENT };
	snprintf(probe->hook, sizeof(probe->hook), "%s/%s", hook_kind_name(hook->kind), hook->target);
	if (usdt && !w->usdt)
		snprintf(probe->why, WHY_BYTES, "the process has no probe of its own");
	else if (hook->kind == HOOK_CGROUP && !may_load_for_cgroups())
		snprintf(probe->why, WHY_BYTES, "programs of control groups need CAP_NET_ADMIN");
	else if (hook->kind == HOOK_CGROUP && !trampolines && frees_storage_beside_walks(targets))
		snprintf(probe->why, WHY_BYTES, "this kernel may fault where a book ends that no trampoline drops");
	else if (!usdt && hook->kind != HOOK_CGROUP && !offer_fits(targets, hook, probe->why))
		return;
	else if (traced && !trampolines)
		snprintf(probe->why, WHY_BYTES, "%.200s", backend_why);
	else if (hook->without_trampolines && trampolines)
		snprintf(probe->why, WHY_BYTES, "not needed: this kernel accepts trampolines");
	else if (hook->rank == HOOK_ELSE && (other = chosen_above(c)))
		snprintf(probe->why, WHY_BYTES, "not needed: this kernel has %s", other->target);
}

/* A watch does without the witness, and without UDP. */
static bool is_needed(const struct hook *hook, const struct hook_wishes *w)
{
	bool witness = !(hook->sets & ~(HOOKS_CALLS | HOOKS_DATAGRAMS));

	return hook->rank == HOOK_NEEDED && (!witness || w->sets & HOOKS_DETAIL);
}

/* -ENOTSUP if a hook is missing without which the books would be wrong. */
static int check_needed(const struct hook_choice *c, const struct hook_wishes *w, enum backend backend,
			char why[WHY_BYTES])
{
	for (int i = 0; i < c->count; i++) {
		if (!is_needed(c->row[i], w) || !*c->probes[i].why || is_detached(w, c->row[i]) ||
		    is_stood_in_for(c, i))
			continue;
		snprintf(why, WHY_BYTES, "the %s backend cannot work here: %.180s", backend_name(backend),
			 c->probes[i].why);
		return -ENOTSUP;
	}
	return 0;
}

int hooks_leave_off(struct hook_choice *c, const struct hook_wishes *w, enum backend backend, char why[WHY_BYTES])
{
	bool found = false;
	int err;

	for (int i = 0; i < c->count; i++) {
		if (is_detached(w, c->row[i]))
			snprintf(c->probes[i].why, WHY_BYTES, "left off on purpose (--break detach:%s)", w->detach);
		else if (is_of_hardware(c->row[i], backend == BACKEND_TRAMPOLINE) && !w->hardware_dma)
			snprintf(c->probes[i].why, WHY_BYTES, "no device of this path does DMA");
		found |= is_detached(w, c->row[i]);
	}
	err = check_needed(c, w, backend, why);
	if (err || !w->detach || found)
		return err;
	/* A fault that changes nothing must not look like one that was caught. */
	snprintf(why, WHY_BYTES, "--break detach:%.60s: no hook of the %s backend is for it",
		 printable(w->detach), backend_name(backend));
	return -EINVAL;
}

int hooks_choose(struct hook_choice *c, const struct hook_wishes *w, enum backend backend,
		 const char *backend_why, const struct targets *targets, char why[WHY_BYTES])
{
	bool trampolines = backend == BACKEND_TRAMPOLINE;

	c->count = 0;
	for (const struct hook *hook = hooks; hook->program; hook++)
		if (w->sets & hook->sets && !is_of_other_backend(hook, w, trampolines))
			choose_hook(c, hook, w, trampolines, backend_why, targets);
	return hooks_leave_off(c, w, backend, why);
}

bool hooks_want(const struct hook_choice *c, const char *program)
{
	for (int i = 0; i < c->count; i++)
		if (!*c->probes[i].why && !strcmp(c->row[i]->program, program))
			return true;
	return false;
}

static bool is_offered(const struct hook_choice *c, const char *metric)
{
	for (int i = 0; i < c->count; i++)
		if (!strcmp(c->row[i]->metric, metric) && !*c->probes[i].why)
			return true;
	return false;
}

/* Every plain receive passes the copy. It is not hooked where all receives that do not copy are told. */
unsigned int hook_sets_of(const struct hook_choice *c, int i, enum backend backend)
{
	return c->row[i]->rank == HOOK_DERIVED && backend == BACKEND_TRAMPOLINE &&
			       is_offered(c, "rx_discard") ?
		       HOOKS_CALLS : c->row[i]->sets;
}
