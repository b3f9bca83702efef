// SPDX-License-Identifier: GPL-2.0
/* Samples of the clock: begun on each processor, taken out of their tables, and their stacks named. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/numbers.h"
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

enum { CLOCKS = sizeof(clocks) / sizeof(*clocks), REST_NS = 2000000 };

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

	e->clock_count = libbpf_num_possible_cpus() + 1;
	e->clocks = calloc(e->clock_count, sizeof(*e->clocks));
	if (!err && !e->clocks)
		err = -ENOMEM;
	/* How long a cycle takes, varies. */
	if (!err && clocks[which].type == PERF_TYPE_SOFTWARE)
		e->skel->bss->cpu_period_ns = NS_PER_S / hz;
	/* Before the first sample. */
	if (!err)
		e->clocks[e->clock_count - 1] = bpf_program__attach(e->skel->progs.cpu_switch);
	if (!err && !e->clocks[e->clock_count - 1])
		err = -errno;
	for (int cpu = 0; cpu < e->clock_count - 1 && !err; cpu++)
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

/* All keys of a table, in their order. How many, or -ENOMEM. */
static int keys_take(int fd, size_t size, int most, void **keys)
{
	char *at = *keys = malloc(most * size);
	int count = 0;

	if (!at)
		return -ENOMEM;
	while (count < most && !bpf_map_get_next_key(fd, count ? at + (count - 1) * size : NULL, at + count * size))
		count++;
	return count;
}

static bool is_over(uint32_t turn, uint32_t last)
{
	return (int32_t)(last - turn) >= 0;
}

/* Takes them out. */
static int read_places(const struct engine *e, uint32_t turn, struct cpu_samples *samples)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_places), count, err;
	struct cpu_place *places;

	count = keys_take(fd, sizeof(*places), CPU_PLACES, (void **)&places);
	samples->stacks = count < 0 ? NULL : calloc(count + 1, sizeof(*samples->stacks));
	err = samples->stacks ? 0 : -ENOMEM;
	for (int i = 0; i < count && !err; i++) {
		struct cpu_stack *stack = &samples->stacks[samples->stack_count];

		if (!is_over(places[i].turn, turn))
			continue;
		*stack = (struct cpu_stack){ .tgid = places[i].tgid, .tid = places[i].tid, .user = places[i].user,
					     .address = places[i].at, .frames = "" };
		if (bpf_map_lookup_elem(fd, &places[i], &stack->samples))
			continue;
		samples->stack_count++;
		bpf_map_delete_elem(fd, &places[i]);
	}
	free(places);
	return err;
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
	return numbers_order(((const struct numbered *)a)->number, ((const struct numbered *)b)->number);
}

static int read_numbered(const struct engine *e, uint32_t turn, struct numbered_stacks *all)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_stacks), count;

	count = keys_take(fd, sizeof(*all->frames), CPU_STACKS, (void **)&all->frames);
	all->by_number = count < 0 ? NULL : calloc(count + 1, sizeof(*all->by_number));
	if (!all->by_number)
		return -ENOMEM;
	for (int i = 0; i < count; i++) {
		if (!is_over(all->frames[i].turn, turn) ||
		    bpf_map_lookup_elem(fd, &all->frames[i], &all->by_number[all->count].number))
			continue;
		bpf_map_delete_elem(fd, &all->frames[i]);
		all->frames[all->count] = all->frames[i];
		all->by_number[all->count].at = all->count;
		all->count++;
	}
	if (all->count)
		qsort(all->by_number, all->count, sizeof(*all->by_number), by_number);
	return 0;
}

/* All at once, because a pass over all symbols of a kernel is slow. */
static int name_numbered(const struct engine *e, const struct numbered_stacks *all, struct cpu_samples *samples)
{
	uint64_t *addresses = malloc(all->count * sizeof(all->frames->frames) + 1);
	struct symbols *symbols;

	if (!addresses)
		return -ENOMEM;
	for (int i = 0; i < all->count; i++)
		memcpy(addresses + i * CPU_FRAMES, all->frames[i].frames, sizeof(all->frames->frames));
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
static int read_stacks(const struct engine *e, uint32_t turn, struct cpu_samples *samples)
{
	struct numbered_stacks all = {};
	int err = read_places(e, turn, samples);

	if (!err)
		err = read_numbered(e, turn, &all);
	if (!err)
		err = name_numbered(e, &all, samples);
	if (!err)
		name_places(&all, samples);
	free(all.frames);
	free(all.by_number);
	return err;
}

/* One that no sample found in the whole turn gives its room to others: with its next sample it is met anew. */
static int read_spans(const struct engine *e, uint32_t turn, struct cpu_samples *samples)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_threads), count;
	uint32_t *tids;

	count = keys_take(fd, sizeof(*tids), CPU_THREADS, (void **)&tids);
	samples->spans = count < 0 ? NULL : calloc(count + 1, sizeof(*samples->spans));
	for (int i = 0; samples->spans && i < count; i++) {
		struct cpu_thread thread;

		if (bpf_map_lookup_elem(fd, &tids[i], &thread))
			continue;
		samples->spans[samples->span_count] = (struct cpu_span){
			.tgid = thread.tgid, .tid = tids[i], .first_ns = thread.first_ns, .periods = thread.samples - 1,
			.skipped = thread.skipped, .run_ns = thread.ran_ns,
		};
		memcpy(samples->spans[samples->span_count++].comm, thread.comm, sizeof(thread.comm));
		if (thread.turn != turn && is_over(thread.turn, turn))
			bpf_map_delete_elem(fd, &tids[i]);
	}
	free(tids);
	return samples->spans ? 0 : -ENOMEM;
}

/* Those that are met anew are looked at once more. */
static void make_room_for_programs(const struct engine *e)
{
	int fd = bpf_map__fd(e->skel->maps.cpu_programs), count;
	uint32_t *tgids;

	count = keys_take(fd, sizeof(*tgids), CPU_PROGRAMS, (void **)&tgids);
	for (int i = 0; count > CPU_PROGRAMS / 2 && i < count; i++)
		bpf_map_delete_elem(fd, &tgids[i]);
	free(tgids);
}

/* Programs that run now are of the turn that ends. */
static uint32_t end_turn(struct engine *e)
{
	uint32_t turn = e->skel->bss->cpu_turn;

	e->skel->bss->cpu_new_places = e->skel->bss->cpu_new_stacks = e->skel->bss->cpu_new_threads = 0;
	__atomic_store_n(&e->skel->bss->cpu_turn, turn + 1, __ATOMIC_SEQ_CST);
	sleep_ns(REST_NS);
	return turn;
}

bool engine_samples_due(const struct engine *e)
{
	return e->skel->bss->cpu_new_places >= CPU_PLACES_TOLD / 2 || e->skel->bss->cpu_new_stacks >= CPU_STACKS / 2 ||
	       e->skel->bss->cpu_new_threads >= CPU_THREADS / 4;
}

int engine_samples(struct engine *e, struct cpu_samples *samples)
{
	uint32_t turn = end_turn(e);
	int err;

	*samples = (struct cpu_samples){};
	err = read_stacks(e, turn, samples);
	if (!err)
		err = read_spans(e, turn, samples);
	if (!err)
		make_room_for_programs(e);
	samples->lost = e->skel->bss->cpu_lost;
	return err;
}
