// SPDX-License-Identifier: GPL-2.0
/* Samples of the clock: begun on each processor, read, and their stacks named. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/perf_open.h"
#include "userspace/engine/engine_inside.h"

/* Cycles are counted where the processor does so: they reach into code that holds interrupts off. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} clocks[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
};

enum { CLOCKS = sizeof(clocks) / sizeof(*clocks) };

static int open_clock(int which, int cpu, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = clocks[which].type, .config = clocks[which].config,
		.freq = 1, .sample_freq = hz,
	};

	return perf_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The first that this machine has. A processor that is offline has none. */
static int choose_clock(unsigned int hz)
{
	for (int which = 0; which < CLOCKS; which++)
		for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
			int fd = open_clock(which, cpu, hz);

			if (fd >= 0) {
				close(fd);
				return which;
			}
			if (errno != ENODEV)
				break;
		}
	return -errno;
}

static int begin_on(struct engine *e, int which, int cpu, unsigned int hz)
{
	int fd = open_clock(which, cpu, hz);

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	e->clocks[cpu] = bpf_program__attach_perf_event(e->skel->progs.cpu_sample, fd);
	if (e->clocks[cpu])
		return 0;
	close(fd);
	return -errno;
}

int engine_sample_cpu(struct engine *e, unsigned int hz, const char **clock, char why[WHY_BYTES])
{
	int which = choose_clock(hz), err = which < 0 ? which : 0;

	e->clock_count = libbpf_num_possible_cpus();
	e->clocks = calloc(e->clock_count, sizeof(*e->clocks));
	if (!err && !e->clocks)
		err = -ENOMEM;
	for (int cpu = 0; cpu < e->clock_count && !err; cpu++)
		err = begin_on(e, which, cpu, hz);
	if (!err)
		*clock = clocks[which].name;
	else
		snprintf(why, WHY_BYTES, "the kernel refused to sample the clock: %s; it takes CAP_PERFMON or root, "
			 "and in a container a seccomp profile that allows perf_event_open", strerror(-err));
	return err;
}

void clocks_free(struct engine *e)
{
	for (int cpu = 0; e->clocks && cpu < e->clock_count; cpu++)
		bpf_link__destroy(e->clocks[cpu]);
	free(e->clocks);
	e->clocks = NULL;
}

/* What comes while it is counted waits for the next reading. */
static int read_places(const struct engine *e, struct cpu_samples *samples, int room)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_places);
	struct cpu_place place, *previous = NULL;

	for (; samples->stack_count < room && !bpf_map_get_next_key(fd, previous, &place); previous = &place) {
		struct cpu_stack *stack = &samples->stacks[samples->stack_count++];

		if (bpf_map_lookup_elem(fd, &place, &stack->samples))
			return -errno;
		*stack = (struct cpu_stack){ .tgid = place.tgid, .tid = place.tid, .user = place.user, .address = place.at,
					     .samples = stack->samples, .frames = "" };
	}
	return 0;
}

struct numbered {
	uint64_t number;
	int at;		/* in .frames and .texts */
};

struct numbered_stacks {
	struct cpu_frames *frames;
	struct numbered *by_number;
	int count;
};

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct numbered *)a)->number, y = ((const struct numbered *)b)->number;

	return (x > y) - (x < y);
}

static int read_numbered(const struct engine *e, struct numbered_stacks *all, int room)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_stacks);
	struct cpu_frames *previous = NULL;

	for (; all->count < room && !bpf_map_get_next_key(fd, previous, &all->frames[all->count]); all->count++) {
		previous = &all->frames[all->count];
		all->by_number[all->count].at = all->count;
		if (bpf_map_lookup_elem(fd, previous, &all->by_number[all->count].number))
			return -errno;
	}
	if (all->count)
		qsort(all->by_number, all->count, sizeof(*all->by_number), by_number);
	return 0;
}

/* All at once, because a pass over all symbols of a kernel is slow. */
static int name_numbered(const struct engine *e, const struct numbered_stacks *all, struct cpu_samples *samples)
{
	uint64_t *addresses = malloc(all->count * sizeof(*all->frames) + 1);
	struct symbols *symbols;

	if (!addresses)
		return -ENOMEM;
	memcpy(addresses, all->frames, all->count * sizeof(*all->frames));
	symbols = symbols_load(e, addresses, all->count * CPU_FRAMES);
	free(addresses);
	samples->texts = calloc(all->count + 1, CPU_TEXT_BYTES);
	for (int i = 0; symbols && samples->texts && i < all->count; i++)
		symbols_join(symbols, (uint64_t *)all->frames[i].frames, CPU_FRAMES, true, samples->texts + i * CPU_TEXT_BYTES,
			     CPU_TEXT_BYTES);
	if (symbols)
		symbols_free(symbols);
	return symbols && samples->texts ? 0 : -ENOMEM;
}

static void name_places(const struct numbered_stacks *all, struct cpu_samples *samples)
{
	for (int i = 0; i < samples->stack_count && all->count; i++) {
		struct cpu_stack *stack = &samples->stacks[i];
		const struct numbered key = { .number = stack->address }, *found;

		if (stack->user)
			continue;
		found = bsearch(&key, all->by_number, all->count, sizeof(key), by_number);
		if (found)
			stack->frames = samples->texts + found->at * CPU_TEXT_BYTES;
		stack->address = 0;
	}
}

/* A stack is there before the first place that has its number. */
static int read_stacks(const struct engine *e, struct cpu_samples *samples)
{
	struct cpu_frames stack;
	struct cpu_place place;
	struct numbered_stacks all = {};
	int room = count_keys(bpf_map__fd(e->skel->maps.cpu_places), &place), stacks, err;

	samples->stacks = calloc(room + 1, sizeof(*samples->stacks));
	err = samples->stacks ? read_places(e, samples, room) : -ENOMEM;
	stacks = count_keys(bpf_map__fd(e->skel->maps.cpu_stacks), &stack);
	all.frames = calloc(stacks + 1, sizeof(*all.frames));
	all.by_number = calloc(stacks + 1, sizeof(*all.by_number));
	if (!err)
		err = all.frames && all.by_number ? read_numbered(e, &all, stacks) : -ENOMEM;
	if (!err)
		err = name_numbered(e, &all, samples);
	if (!err)
		name_places(&all, samples);
	free(all.frames);
	free(all.by_number);
	return err;
}

static int read_spans(const struct engine *e, struct cpu_samples *samples)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_threads), room;
	uint32_t tid, *previous = NULL;

	room = count_keys(fd, &tid);
	samples->spans = calloc(room + 1, sizeof(*samples->spans));
	if (!samples->spans)
		return -ENOMEM;
	for (; samples->span_count < room && !bpf_map_get_next_key(fd, previous, &tid); previous = &tid) {
		struct cpu_thread thread;

		if (bpf_map_lookup_elem(fd, &tid, &thread))
			return -errno;
		samples->spans[samples->span_count] = (struct cpu_span){
			.tgid = thread.tgid, .tid = tid, .samples = thread.samples,
			.run_ns = thread.last_ns - thread.first_ns,
		};
		memcpy(samples->spans[samples->span_count++].comm, thread.comm, sizeof(thread.comm));
	}
	return 0;
}

int engine_samples(const struct engine *e, struct cpu_samples *samples)
{
	int err;

	*samples = (struct cpu_samples){ .lost = e->skel->bss->cpu_lost };
	err = read_stacks(e, samples);
	return err ? err : read_spans(e, samples);
}
