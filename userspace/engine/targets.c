// SPDX-License-Identifier: GPL-2.0
/* The functions and tracepoints that programs can be attached to, by name, from one pass over BTF. */
#include "userspace/engine/targets.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* include/linux/tracepoint.h declares a type of this name for each tracepoint. */
static const char declares[] = "btf_trace_";

struct targets {
	struct btf *btf;
	uint32_t mask;		/* of the places, a power of two of them */
	uint32_t ids[];		/* of types, at the hash of the name or at the next free place; 0: free */
};

/* That of programs that are loaded now. */
static const struct targets *loads_by;

static const char *name_of(const struct btf *btf, uint32_t id)
{
	return btf__name_by_offset(btf, btf__type_by_id(btf, id)->name_off);
}

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

static bool is_target(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	return btf_is_func(type) || (btf_is_typedef(type) &&
				     !strncmp(name_of(btf, id), declares, sizeof(declares) - 1));
}

/* Where this name is, or the free place where it belongs. A name that comes twice keeps the first. */
static uint32_t place_of(const struct targets *targets, const char *name)
{
	uint32_t place = hash_of(name) & targets->mask;

	while (targets->ids[place] && strcmp(name_of(targets->btf, targets->ids[place]), name))
		place = (place + 1) & targets->mask;
	return place;
}

struct targets *targets_read(struct btf *btf)
{
	uint32_t types = btf ? btf__type_cnt(btf) : 0, places = 2;
	struct targets *targets;

	while (places < types)
		places *= 2;
	targets = btf ? calloc(1, sizeof(*targets) + places * sizeof(*targets->ids)) : NULL;
	if (!targets) {
		btf__free(btf);
		return NULL;
	}
	targets->btf = btf;
	targets->mask = places - 1;
	for (uint32_t id = 1; id < types; id++)
		if (is_target(btf, id)) {
			uint32_t *at = &targets->ids[place_of(targets, name_of(btf, id))];

			*at = *at ? *at : id;
		}
	return targets;
}

int targets_failure(int err)
{
	struct btf *btf;
	int refusal;

	if (err != -ENOENT && err != -ESRCH)
		return err;
	btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	refusal = libbpf_get_error(btf);
	if (!refusal)
		btf__free(btf);
	return refusal == -ENOMEM ? refusal : err;
}

int targets_open(struct targets **targets)
{
	struct btf *btf = btf__load_vmlinux_btf();

	*targets = targets_read(btf);
	if (*targets)
		return targets_load_by(*targets);
	return btf ? -ENOMEM : targets_failure(-ENOENT);
}

void targets_free(struct targets *targets)
{
	if (!targets)
		return;
	if (loads_by == targets)
		loads_by = NULL;
	btf__free(targets->btf);
	free(targets);
}

const struct btf *targets_btf(const struct targets *targets)
{
	return targets->btf;
}

static uint32_t of_kind(const struct targets *targets, const char *name, bool function)
{
	uint32_t id = targets->ids[place_of(targets, name)];

	return id && btf_is_func(btf__type_by_id(targets->btf, id)) == function ? id : 0;
}

uint32_t targets_function(const struct targets *targets, const char *name)
{
	return of_kind(targets, name, true);
}

uint32_t targets_tracepoint(const struct targets *targets, const char *name)
{
	char declaration[128];

	if (snprintf(declaration, sizeof(declaration), "%s%s", declares, name) >=
	    (int)sizeof(declaration))
		return 0;
	return of_kind(targets, declaration, false);
}

/* @tracepoint is the cookie of the handler. */
static int prepare_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long tracepoint)
{
	const char *target = strchr(bpf_program__section_name(prog), '/');

	if (!target || !loads_by)
		return -EINVAL;
	opts->attach_btf_id = tracepoint ? targets_tracepoint(loads_by, target + 1)
					 : targets_function(loads_by, target + 1);
	return opts->attach_btf_id ? 0 : -ESRCH;
}

static int attach(const struct bpf_program *prog, long tracepoint, struct bpf_link **link)
{
	*link = bpf_program__attach_trace(prog);
	return *link ? 0 : -errno;
}

static int handle(const char *section, enum bpf_attach_type type)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = type == BPF_TRACE_RAW_TP,
		    .prog_prepare_load_fn = prepare_load, .prog_attach_fn = attach);
	int handler = libbpf_register_prog_handler(section, BPF_PROG_TYPE_TRACING, type, &opts);

	return handler < 0 ? handler : 0;
}

int targets_load_by(const struct targets *targets)
{
	static bool handled;
	int err = 0;

	loads_by = targets;
	if (handled)
		return 0;
	handled = true;
	err = handle("fentry+", BPF_TRACE_FENTRY);
	if (!err)
		err = handle("fexit+", BPF_TRACE_FEXIT);
	return err ? err : handle("tp_btf+", BPF_TRACE_RAW_TP);
}
