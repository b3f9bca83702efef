// SPDX-License-Identifier: GPL-2.0
/* Finds what the running kernel offers to probes, by its BTF and by trying: never by its
 * version. */
#include "userspace/engine/hooks/offer.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/engine/hooks/targets.h"

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

bool offer_fits(const struct targets *targets, const struct hook *hook, char *why)
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

/* Kernels under lockdown refuse every trampoline (EPERM at load): try an empty one. */
static int try_trampoline(const struct targets *targets)
{
	struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY);
	int fd;

	opts.attach_btf_id = targets_function(targets, "tcp_sendmsg_locked");
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "try", "GPL", empty, 2, &opts);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

enum backend offer_backend(enum backend asked, const struct targets *targets, char *why)
{
	int err;

	if (asked != BACKEND_AUTO) {
		snprintf(why, WHY_BYTES, "asked for on the command line");
		return asked;
	}
	err = try_trampoline(targets);
	if (!err) {
		snprintf(why, WHY_BYTES, "this kernel accepts trampolines (fentry/fexit)");
		return BACKEND_TRAMPOLINE;
	}
	snprintf(why, WHY_BYTES, "this kernel refuses trampolines (fentry/fexit): %s",
		 strerror(-err));
	return BACKEND_TRACEPOINT;
}
