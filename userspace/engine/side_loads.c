// SPDX-License-Identifier: GPL-2.0
/* Programs loaded side by side, on each processor that may be used. */
#include "userspace/engine/side_loads.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each verifies with some megabytes of the kernel's memory. */
enum { WORKERS_MOST = 8 };

/* A program as libbpf was about to load it; what @opts points to stays libbpf's. */
struct load {
	struct bpf_program *program;
	struct bpf_insn *insns;
	size_t count;
	struct bpf_prog_load_opts *opts;
	int err;	/* 0 or -errno */
};

struct side_loads {
	const struct bpf_program *last;	/* libbpf loads it itself, after the others */
	uint32_t stub;
	int workers, count;
	int next;	/* the first load that nobody began */
	struct load loads[];
};

static int processors(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);
}

static bool is_tracing(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_TRACING;
}

static bool is_taken(const struct bpf_program *program)
{
	return bpf_program__autoload(program) &&
	       (is_tracing(program) || bpf_program__type(program) == BPF_PROG_TYPE_CGROUP_SOCK);
}

struct side_loads *side_loads_begin(struct bpf_object *programs, uint32_t stub)
{
	const struct bpf_program *last = NULL;
	struct bpf_program *program;
	struct side_loads *loads;
	int count = 0, workers = processors();

	bpf_object__for_each_program(program, programs) {
		if (!is_taken(program))
			continue;
		count++;
		last = program;
	}
	loads = count && stub && workers > 1 ? calloc(1, sizeof(*loads) + count * sizeof(*loads->loads)) : NULL;
	if (!loads)
		return NULL;
	loads->last = last;
	loads->stub = stub;
	loads->workers = workers < WORKERS_MOST ? workers : WORKERS_MOST;
	return loads;
}

static void *copy_of(const void *from, size_t bytes)
{
	void *copy = malloc(bytes);

	return copy ? memcpy(copy, from, bytes) : NULL;
}

/* Has libbpf load a stub. Of a function's targets an iterator is the one that the kernel finds at once. */
static int take(struct side_loads *loads, struct bpf_program *program, struct bpf_prog_load_opts *opts)
{
	struct bpf_insn stub[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct load *load = &loads->loads[loads->count++];

	load->program = program;
	load->count = bpf_program__insn_cnt(program);
	load->insns = copy_of(bpf_program__insns(program), load->count * sizeof(*load->insns));
	load->opts = copy_of(opts, opts->sz);
	if (!load->insns || !load->opts)
		return -ENOMEM;
	if (is_tracing(program)) {
		opts->expected_attach_type = BPF_TRACE_ITER;
		opts->attach_btf_id = loads->stub;
		opts->attach_btf_obj_fd = 0;
	}
	opts->func_info_cnt = 0;
	opts->line_info_cnt = 0;
	return bpf_program__set_insns(program, stub, sizeof(stub) / sizeof(*stub));
}

/* Puts it behind the descriptor of its stub. */
static void load_one(struct load *load)
{
	const struct bpf_program *program = load->program;
	int fd = bpf_prog_load(bpf_program__type(program), bpf_program__name(program), "GPL", load->insns, load->count,
			       load->opts);

	load->err = fd < 0 ? fd : dup3(fd, bpf_program__fd(program), O_CLOEXEC) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
}

static void *work(void *arg)
{
	struct side_loads *loads = arg;
	int i;

	while ((i = __atomic_fetch_add(&loads->next, 1, __ATOMIC_SEQ_CST)) < loads->count)
		load_one(&loads->loads[i]);
	return NULL;
}

/* The longest first: none is left alone at the end. */
static int by_length(const void *a, const void *b)
{
	const struct load *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static int load_all(struct side_loads *loads)
{
	pthread_t threads[WORKERS_MOST];
	int started = 0, err = 0;

	qsort(loads->loads, loads->count, sizeof(*loads->loads), by_length);
	while (started < loads->workers - 1 && !pthread_create(&threads[started], NULL, work, loads))
		started++;
	work(loads);
	while (started)
		pthread_join(threads[--started], NULL);
	for (int i = 0; i < loads->count && !err; i++)
		err = loads->loads[i].err;
	return err;
}

int side_loads_take(struct side_loads *loads, struct bpf_program *program, struct bpf_prog_load_opts *opts)
{
	return !loads ? 0 : program == loads->last ? load_all(loads) : take(loads, program, opts);
}

void side_loads_free(struct side_loads *loads)
{
	for (int i = 0; loads && i < loads->count; i++) {
		free(loads->loads[i].insns);
		free(loads->loads[i].opts);
	}
	free(loads);
}
