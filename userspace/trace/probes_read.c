// SPDX-License-Identifier: GPL-2.0
/* Reads the maps once the gate is closed: per-CPU books to one ledger, stacks to names. */
#include "userspace/trace/probes_read.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/trace/symbols.h"

void probe_read_runs(const struct probes_view *view, const char *program, struct probe *probe)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(view->object, program);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return;
	probe->runs = info.run_cnt;
	probe->run_time_ns = info.run_time_ns;
	/* A kernel without this counter skips no run: both came with 5.12 (ca06f55b9002, "bpf: Add
	 * per-program recursion prevention mechanism"). */
	probe->missed_runs = info.recursion_misses;
}

static void books_sum(struct books *into, const struct books *from)
{
	for (int s = 0; s < SITE_COUNT; s++) {
		into->site[s].bytes += from->site[s].bytes;
		into->site[s].calls += from->site[s].calls;
	}
	for (int c = 0; c < COUNT_COUNT; c++)
		into->count[c] += from->count[c];
}

static int ledger_read_books(int fd, int cpus, struct ledger *ledger)
{
	struct books *each = calloc(cpus, sizeof(*each));
	uint64_t key, *previous = NULL;
	int err = each ? 0 : -ENOMEM;

	while (!err && !bpf_map_get_next_key(fd, previous, &key)) {
		struct socket_books *grown = realloc(ledger->sockets, (ledger->socket_count + 1) *
							      sizeof(*grown));

		if (!grown) {
			err = -ENOMEM;
			break;
		}
		ledger->sockets = grown;
		grown = &grown[ledger->socket_count++];
		*grown = (struct socket_books){ .cookie = key };
		if (bpf_map_lookup_elem(fd, &key, each))
			err = -errno;
		for (int cpu = 0; !err && cpu < cpus; cpu++)
			books_sum(&grown->books, &each[cpu]);
		books_sum(&ledger->total, &grown->books);
		previous = &key;
	}
	free(each);
	return err;
}

static void read_stack(int stacks_fd, uint64_t id, char *text)
{
	uint64_t frames[CAUSE_FRAMES] = {};
	uint32_t key = id;

	*text = '\0';
	if ((int64_t)id < 0 || bpf_map_lookup_elem(stacks_fd, &key, frames))
		return;
	symbols_join(frames, CAUSE_FRAMES, text, STACK_TEXT_BYTES);
}

static int ledger_read_causes(const struct probes_view *view, int cpus, struct ledger *ledger)
{
	struct bpf_map *causes = bpf_object__find_map_by_name(view->object, "causes");
	struct bpf_map *stacks = bpf_object__find_map_by_name(view->object, "stacks");
	struct tally *each = calloc(cpus, sizeof(*each));
	uint64_t key, *previous = NULL;

	if (!each)
		return -ENOMEM;
	while (causes && ledger->late_count < CAUSES_MAX &&
	       !bpf_map_get_next_key(bpf_map__fd(causes), previous, &key)) {
		struct late_stack *late = &ledger->late[ledger->late_count++];

		bpf_map_lookup_elem(bpf_map__fd(causes), &key, each);
		for (int cpu = 0; cpu < cpus; cpu++) {
			late->tally.bytes += each[cpu].bytes;
			late->tally.calls += each[cpu].calls;
		}
		read_stack(bpf_map__fd(stacks), key, late->frames);
		previous = &key;
	}
	free(each);
	return 0;
}

int ledger_read(const struct probes_view *view, struct ledger *ledger)
{
	struct bpf_map *books = bpf_object__find_map_by_name(view->object, "books");
	int cpus = libbpf_num_possible_cpus(), err;

	ledger->gauges = *view->gauges;
	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		if (view->seen[cpu].peak_pages > ledger->gauges.peak_pages)
			ledger->gauges.peak_pages = view->seen[cpu].peak_pages;
	err = ledger_read_books(bpf_map__fd(books), cpus, ledger);
	return err ? err : ledger_read_causes(view, cpus, ledger);
}
