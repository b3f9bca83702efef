// SPDX-License-Identifier: GPL-2.0
/* The functions and tracepoints that programs can be attached to, by name, from one pass over BTF. */
#include "userspace/engine/targets.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/include/casts.h"
#include "userspace/engine/constants.h"
#include "userspace/engine/dead_code.h"
#include "userspace/engine/side_loads.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"

/* include/linux/tracepoint.h declares a type of this name for each tracepoint. */
static const char declares[] = "btf_trace_";

struct targets {
	struct btf *btf;	/* with the module's types behind the kernel's, if there is one */
	struct btf *base;	/* the kernel's, if .btf is the module's */
	uint32_t base_types;
	int module_fd;		/* of the module's BTF; -1: there is none */
	struct bpf_map *constants;	/* what was set before load; NULL: programs read it */
	struct side_loads *side_loads;	/* NULL: libbpf loads one after the other */
	uint32_t mask;		/* of the places, a power of two of them */
	/* Numbers of types, at the hash of the name or at the next free place, below bits of the hash that tell most
	 * other names without a look at them, which lie far apart; 0: free. */
	uint32_t places[];
};
enum { ID_BITS = 20, ID_MASK = (1 << ID_BITS) - 1 };

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

/* Where this name is, or the free place where it belongs. @hash is that of the name. */
static uint32_t place_of(const struct targets *targets, const char *name, uint32_t hash)
{
	uint32_t place = hash & targets->mask, other;

	while ((other = targets->places[place]) &&
	       ((other ^ hash) & ~ID_MASK || strcmp(name_of(targets->btf, other & ID_MASK), name)))
		place = (place + 1) & targets->mask;
	return place;
}

/* A name that comes twice keeps the first. */
static void note(struct targets *targets, uint32_t id)
{
	const char *name = name_of(targets->btf, id);
	uint32_t hash = hash_of(name), *place = &targets->places[place_of(targets, name, hash)];

	if (!*place)
		*place = (hash & ~ID_MASK) | id;
}

struct targets *targets_read(struct btf *btf)
{
	uint32_t types = btf ? btf__type_cnt(btf) : 0, places = 2;
	struct targets *targets;

	/* Some half of all types are targets, and type 0 is none: places stay free. */
	while (places < types)
		places *= 2;
	targets = btf && types <= ID_MASK ? calloc(1, sizeof(*targets) + places * sizeof(*targets->places)) : NULL;
	if (!targets) {
		btf__free(btf);
		return NULL;
	}
	targets->btf = btf;
	targets->module_fd = -1;
	targets->mask = places - 1;
	for (uint32_t id = 1; id < types; id++)
		if (is_target(btf, id))
			note(targets, id);
	return targets;
}

int targets_failure(int err)
{
	struct btf *btf;
	int refusal;

	if (err != -ENOENT && err != -ESRCH)
		return err;
	btf = btf__parse(VMLINUX, NULL);
	refusal = libbpf_get_error(btf);
	if (!refusal)
		btf__free(btf);
	return refusal == -ENOMEM ? refusal : err;
}

/* The only module with functions that hooks are for. */
static const char module[] = "tls";

/* A descriptor of the module's BTF, or -1 while it is not loaded. */
static int module_open(void)
{
	uint32_t id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[64] = "";
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
		uint32_t size = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.kernel_btf && !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -1;
}

/* The kernel's types, and the module's behind them. */
static int read_both(struct targets **targets, struct btf *base)
{
	int fd = module_open();
	struct btf *both = fd < 0 ? NULL : btf__load_module_btf(module, base);

	*targets = targets_read(both ? both : base);
	if (!*targets || !both) {
		if (fd >= 0)
			close(fd);
		if (both)
			btf__free(base);
		return *targets ? 0 : -ENOMEM;
	}
	(*targets)->base = base;
	(*targets)->base_types = btf__type_cnt(base);
	(*targets)->module_fd = fd;
	return 0;
}

/* Mapped, it is copied once, by libbpf, and not by the kernel before: since 6.16 (a539e2a6d51d, "btf: Allow mmap of vmlinux
 * btf"). NULL elsewhere. */
static struct btf *map_vmlinux(void)
{
	int fd = open(VMLINUX, O_RDONLY | O_CLOEXEC);
	struct btf *btf = NULL;
	struct stat file;
	void *types;

	if (fd < 0)
		return NULL;
	types = fstat(fd, &file) ? MAP_FAILED : mmap(NULL, file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (types == MAP_FAILED)
		return NULL;
	btf = btf__new(types, file.st_size);
	munmap(types, file.st_size);
	return libbpf_get_error(btf) ? NULL : btf;
}

int targets_open(struct targets **targets)
{
	struct btf *btf = map_vmlinux() ?: btf__load_vmlinux_btf();
	int err = btf ? read_both(targets, btf) : targets_failure(-ENOENT);

	if (!btf)
		*targets = NULL;
	return err ? err : targets_load_by(*targets);
}

void targets_free(struct targets *targets)
{
	if (!targets)
		return;
	if (loads_by == targets)
		loads_by = NULL;
	btf__free(targets->btf);
	btf__free(targets->base);
	if (targets->module_fd >= 0)
		close(targets->module_fd);
	side_loads_free(targets->side_loads);
	free(targets);
}

const struct btf *targets_btf(const struct targets *targets)
{
	return targets->btf;
}

static uint32_t of_kind(const struct targets *targets, const char *name, bool function)
{
	uint32_t id = targets->places[place_of(targets, name, hash_of(name))] & ID_MASK;

	return id && btf_is_func(btf__type_by_id(targets->btf, id)) == function ? id : 0;
}

uint32_t targets_function(const struct targets *targets, const char *name)
{
	return of_kind(targets, name, true);
}

/* What has this name behind a prefix. */
static uint32_t prefixed(const struct targets *targets, const char *prefix, const char *name, bool function)
{
	char declaration[128];

	if (snprintf(declaration, sizeof(declaration), "%s%s", prefix, name) >=
	    (int)sizeof(declaration))
		return 0;
	return of_kind(targets, declaration, function);
}

uint32_t targets_tracepoint(const struct targets *targets, const char *name)
{
	return prefixed(targets, declares, name, false);
}

/* include/linux/bpf.h: DEFINE_BPF_ITER_FUNC() declares a function for each iterator. */
static uint32_t iterator(const struct targets *targets, const char *name)
{
	return prefixed(targets, "bpf_iter_", name, true);
}

/* As libbpf does with a function of the kernel that a program declares. */
static void name_cast(const struct bpf_program *prog)
{
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(prog);
	uint32_t function = targets_function(loads_by, "bpf_rdonly_cast");

	for (size_t i = 0; function && i < bpf_program__insn_cnt(prog); i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg || insns[i].imm != CAST_CALL)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = function;
	}
}

/* @writes: in place of the reads, too. 0 or -errno. */
static int use_constants(struct bpf_program *prog, struct bpf_prog_load_opts *opts, bool writes)
{
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(prog), *left;
	size_t count = bpf_program__insn_cnt(prog);
	struct frozen_map map = { .fd = bpf_map__fd(loads_by->constants) };
	int err;

	map.values = bpf_map__initial_value(loads_by->constants, &map.bytes);
	if (!map.values)
		return 0;
	if (writes)
		constants_write(insns, count, map.fd, map.values, map.bytes);
	count = dead_code_drop(insns, count, &map, opts);
	left = malloc(count * sizeof(*left));
	if (!left)
		return -ENOMEM;
	memcpy(left, insns, count * sizeof(*left));
	err = bpf_program__set_insns(prog, left, count);
	free(left);
	return err;
}

void targets_write_constants(struct targets *targets, struct bpf_map *constants)
{
	targets->constants = constants;
}

void targets_load_side_by_side(struct targets *targets, struct bpf_object *programs)
{
	targets->side_loads = side_loads_begin(programs, iterator(targets, "task"));
}

/* @type is the cookie of the handler. */
static int prepare_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long type)
{
	const char *target = strchr(bpf_program__section_name(prog), '/');
	int err;

	if (!target || !loads_by)
		return -EINVAL;
	opts->attach_prog_fd = 0;
	opts->attach_btf_id = type == BPF_TRACE_RAW_TP ? targets_tracepoint(loads_by, target + 1) :
			      type == BPF_TRACE_ITER   ? iterator(loads_by, target + 1) :
							 targets_function(loads_by, target + 1);
	if (loads_by->base && opts->attach_btf_id >= loads_by->base_types)
		opts->attach_btf_obj_fd = loads_by->module_fd;
	name_cast(prog);
	/* A walk asks once of a socket or a descriptor, and the verifier takes longer. */
	err = loads_by->constants ? use_constants(prog, opts, type != BPF_TRACE_ITER) : 0;
	if (err)
		return err;
	return opts->attach_btf_id ? side_loads_take(loads_by->side_loads, prog, opts) : -ESRCH;
}

/* What a program hangs on that needs no type of the kernel. */
static int prepare_plain(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long type)
{
	int err;

	if (!loads_by)
		return -EINVAL;
	name_cast(prog);
	err = loads_by->constants ? use_constants(prog, opts, true) : 0;
	return err ? err : side_loads_take(loads_by->side_loads, prog, opts);
}

static int attach(const struct bpf_program *prog, long type, struct bpf_link **link)
{
	*link = bpf_program__attach_trace(prog);
	return *link ? 0 : -errno;
}

static int handle(const char *section, enum bpf_attach_type type)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = type,
		    .prog_prepare_load_fn = prepare_load, .prog_attach_fn = attach);
	int handler = libbpf_register_prog_handler(section, BPF_PROG_TYPE_TRACING, type, &opts);

	return handler < 0 ? handler : 0;
}

static int handle_plain(const char *section, enum bpf_attach_type type)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = prepare_plain);
	int handler = libbpf_register_prog_handler(section, BPF_PROG_TYPE_CGROUP_SOCK, type, &opts);

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
	if (!err)
		err = handle("iter+", BPF_TRACE_ITER);
	if (!err)
		err = handle_plain("cgroup/sock_create", BPF_CGROUP_INET_SOCK_CREATE);
	if (!err)
		err = handle_plain("cgroup/sock_release", BPF_CGROUP_INET_SOCK_RELEASE);
	return err ? err : handle("tp_btf+", BPF_TRACE_RAW_TP);
}
