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

/* Stacks that come while they are counted wait for the next reading. */
static int read_places(const struct engine *e, struct cpu_place *places, int room, struct cpu_samples *samples)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_places);
	struct cpu_place *previous = NULL;

	for (; samples->stack_count < room; samples->stack_count++) {
		struct cpu_place *place = &places[samples->stack_count];
		struct cpu_stack *stack = &samples->stacks[samples->stack_count];

		if (bpf_map_get_next_key(fd, previous, place))
			break;
		if (bpf_map_lookup_elem(fd, place, &stack->samples))
			return -errno;
		stack->tgid = place->tgid;
		stack->user = place->user;
		previous = place;
	}
	return 0;
}

/* All at once, because a pass over all symbols of a kernel is slow. */
static int name_places(const struct engine *e, const struct cpu_place *places, struct cpu_samples *samples)
{
	size_t each = sizeof(places->frames);
	uint64_t *frames = malloc(samples->stack_count * each + 1);
	struct symbols *symbols;

	if (!frames)
		return -ENOMEM;
	for (int i = 0; i < samples->stack_count; i++)
		memcpy(frames + i * CPU_FRAMES, places[i].frames, each);
	symbols = symbols_load(e, frames, samples->stack_count * CPU_FRAMES);
	for (int i = 0; symbols && i < samples->stack_count; i++) {
		memcpy(frames, places[i].frames, each);
		symbols_join(symbols, frames, CPU_FRAMES, true, samples->stacks[i].frames, CPU_TEXT_BYTES);
	}
	free(frames);
	if (!symbols)
		return -ENOMEM;
	symbols_free(symbols);
	return 0;
}

static int read_stacks(const struct engine *e, struct cpu_samples *samples)
{
	struct cpu_place key, *places;
	int room = count_keys(bpf_map__fd(e->skel->maps.cpu_places), &key), err;

	places = calloc(room + 1, sizeof(*places));
	samples->stacks = calloc(room + 1, sizeof(*samples->stacks));
	err = places && samples->stacks ? read_places(e, places, room, samples) : -ENOMEM;
	if (!err)
		err = name_places(e, places, samples);
	free(places);
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
		samples->spans[samples->span_count++] = (struct cpu_span){
			.tgid = thread.tgid, .tid = tid, .samples = thread.samples,
			.run_ns = thread.last_ns - thread.first_ns,
		};
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
