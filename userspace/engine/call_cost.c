// SPDX-License-Identifier: GPL-2.0
/* Measures what calls cost: events of every CPU, a pair of programs a function, an empty call. */
#include "userspace/engine/call_cost.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/perf_open.h"
#include "userspace/counters/events.h"
#include "userspace/engine/targets.h"

enum { EMPTY_CALLS = 1000 };

struct cost_probes {
	struct bpf_object *object;
	struct bpf_link *entry[COST_COUNT], *exit[COST_COUNT];
	int cpus;
	int *fds[COST_EVENTS];	/* one a CPU, -1 if that CPU is offline; NULL: not counted */
};

static const char *const functions[COST_COUNT] = {
#define COST_FUNCTION(name, function) #function,
	COSTS(COST_FUNCTION)
#undef COST_FUNCTION
};

static struct bpf_program *program_of(struct bpf_object *object, const char *end, enum cost cost)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "cost_%s_%s", end, cost_name(cost));
	return bpf_object__find_program_by_name(object, name);
}

static void events_close(int *fds, int cpus)
{
	for (int cpu = 0; fds && cpu < cpus; cpu++)
		if (fds[cpu] >= 0)
			close(fds[cpu]);
	free(fds);
}

/* One event on every CPU, all tasks: what a program can read where it runs. */
static int *events_open(enum counter_event event, int cpus, char *why)
{
	const struct event_spec *spec = event_spec(event);
	struct perf_event_attr attr = {
		.type = spec->type, .config = spec->config, .size = sizeof(attr), .exclude_hv = 1,
	};
	int *fds = malloc(sizeof(*fds) * cpus);
	int opened = 0;

	for (int cpu = 0; fds && cpu < cpus; cpu++)
		fds[cpu] = -1;
	for (int cpu = 0; fds && cpu < cpus; cpu++) {
		fds[cpu] = perf_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		opened += fds[cpu] >= 0;
		/* ENODEV: that CPU is offline, unless all say so. */
		if (fds[cpu] >= 0 || (errno == ENODEV && (opened || cpu < cpus - 1)))
			continue;
		event_refusal(why, errno);
		events_close(fds, cpus);
		return NULL;
	}
	return fds;
}

/* The programs read results with bpf_get_func_ret (5.17, f92c1e183604 "bpf: Add get_func_[arg|ret|
 * arg_cnt] helpers"); the kernel lists its helpers in an enum. */
static bool has_helper(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			return true;
	return false;
}

static int choose_programs(struct cost_probes *c, const struct targets *targets, struct record *r)
{
	int err = 0;

	for (enum cost cost = 0; cost < COST_COUNT && !err; cost++) {
		if (!targets_function(targets, functions[cost])) {
			snprintf(r->cost[cost].why, WHY_BYTES, "this kernel has no %s",
				 functions[cost]);
			continue;
		}
		err = bpf_program__set_autoload(program_of(c->object, "enter", cost), true);
		if (!err)
			err = bpf_program__set_autoload(program_of(c->object, "exit", cost), true);
	}
	return err;
}

struct cost_probes *cost_probes_choose(struct bpf_object *object, const struct targets *targets,
				       bool counts[COST_EVENTS], struct record *r)
{
	struct cost_probes *c;
	struct bpf_map *map;

	if (!has_helper(targets_btf(targets), "BPF_FUNC_get_func_ret")) {
		snprintf(r->cost_why, WHY_BYTES,
			 "this kernel's programs cannot read the results of calls (needs Linux 5.17)");
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	bpf_object__for_each_map(map, object)
		if (!strncmp(bpf_map__name(map), "cost_", 5))
			bpf_map__set_autocreate(map, true);
	c->object = object;
	c->cpus = libbpf_num_possible_cpus();
	for (int e = 0; e < COST_EVENTS; e++) {
		c->fds[e] = events_open(e, c->cpus, r->cost_event_why[e]);
		counts[e] = c->fds[e];
	}
	if (!choose_programs(c, targets, r))
		return c;
	cost_probes_free(c);
	return NULL;
}

static int hand_over_events(struct cost_probes *c)
{
	for (int e = 0; e < COST_EVENTS; e++) {
		char name[NAME_BYTES];
		struct bpf_map *map;

		snprintf(name, sizeof(name), "cost_event_%d", e);
		map = bpf_object__find_map_by_name(c->object, name);
		for (int cpu = 0; c->fds[e] && cpu < c->cpus; cpu++)
			if (c->fds[e][cpu] >= 0 &&
			    bpf_map_update_elem(bpf_map__fd(map), &cpu, &c->fds[e][cpu], BPF_ANY))
				return -errno;
	}
	return 0;
}

static void attach_end(struct cost_probes *c, const char *end, struct bpf_link **links,
		       struct record *r)
{
	for (enum cost cost = 0; cost < COST_COUNT; cost++) {
		if (*r->cost[cost].why)
			continue;
		links[cost] = bpf_program__attach(program_of(c->object, end, cost));
		if (!links[cost])
			snprintf(r->cost[cost].why, WHY_BYTES, "the kernel refused to hook %s: %s",
				 functions[cost], strerror(errno));
	}
}

int cost_probes_attach_entries(struct cost_probes *c, struct record *r)
{
	int err = c ? hand_over_events(c) : 0;

	if (c && !err)
		attach_end(c, "enter", c->entry, r);
	return err;
}

int cost_probes_attach_exits(struct cost_probes *c, struct record *r)
{
	if (c)
		attach_end(c, "exit", c->exit, r);
	return 0;
}

/* A test run of a program at bpf_fentry_test1 has the kernel call that function, which adds 1. */
void cost_probes_calibrate(struct cost_probes *c, volatile uint32_t *calibrating)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd;

	if (!c || !c->entry[COST_empty] || !c->exit[COST_empty])
		return;
	fd = bpf_program__fd(program_of(c->object, "enter", COST_empty));
	__atomic_store_n(calibrating, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < EMPTY_CALLS; i++)
		if (bpf_prog_test_run_opts(fd, &opts))
			break;
	__atomic_store_n(calibrating, 0, __ATOMIC_SEQ_CST);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static void sums_add(struct cost_sums *into, const struct cost_sums *from)
{
	into->calls += from->calls;
	into->bytes += from->bytes;
	into->time_ns += from->time_ns;
	into->moved_calls += from->moved_calls;
	into->slept_calls += from->slept_calls;
	into->least_ns = lesser(into->least_ns, from->least_ns);
	for (int e = 0; e < COST_EVENTS; e++) {
		into->event[e].count += from->event[e].count;
		into->event[e].enabled_ns += from->event[e].enabled_ns;
		into->event[e].running_ns += from->event[e].running_ns;
		into->least[e] = lesser(into->least[e], from->least[e]);
	}
}

int cost_probes_read(const struct cost_probes *c, struct record *r)
{
	struct cost_sums *each;
	int fd, err = 0;

	if (!c)
		return 0;
	each = calloc(c->cpus, sizeof(*each));
	fd = bpf_map__fd(bpf_object__find_map_by_name(c->object, "cost_sums"));
	for (uint32_t cost = 0; each && cost < COST_COUNT && !err; cost++) {
		r->cost[cost].sums = (struct cost_sums){};
		if (bpf_map_lookup_elem(fd, &cost, each))
			err = -errno;
		for (int cpu = 0; !err && cpu < c->cpus; cpu++)
			sums_add(&r->cost[cost].sums, &each[cpu]);
	}
	free(each);
	return each ? err : -ENOMEM;
}

void cost_probes_free(struct cost_probes *c)
{
	if (!c)
		return;
	for (enum cost cost = 0; cost < COST_COUNT; cost++) {
		bpf_link__destroy(c->entry[cost]);
		bpf_link__destroy(c->exit[cost]);
	}
	for (int e = 0; e < COST_EVENTS; e++)
		events_close(c->fds[e], c->cpus);
	free(c);
}
