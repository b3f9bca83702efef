// SPDX-License-Identifier: GPL-2.0
/* Reads the maps: per-CPU books to one ledger, stacks to names. */
#include "userspace/probes/read/read.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/probes/read/symbols.h"
#include "userspace/record/books.h"

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

static int map_fd(const struct probes_view *view, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(view->object, name));
}

static int ledger_read_books(const struct probes_view *view, int cpus, struct ledger *ledger)
{
	int numbers = map_fd(view, "book_numbers"), books = map_fd(view, "books");
	struct books *each = calloc(cpus, sizeof(*each));
	uint64_t key, *previous = NULL;
	int err = each ? 0 : -ENOMEM;
	uint32_t number;

	while (!err && !bpf_map_get_next_key(numbers, previous, &key)) {
		struct socket_books *grown = realloc(ledger->sockets, (ledger->socket_count + 1) *
							      sizeof(*grown));

		if (!grown) {
			err = -ENOMEM;
			break;
		}
		ledger->sockets = grown;
		grown = &grown[ledger->socket_count++];
		*grown = (struct socket_books){ .cookie = key };
		if (bpf_map_lookup_elem(numbers, &key, &number) ||
		    bpf_map_lookup_elem(books, &number, each))
			err = -errno;
		for (int cpu = 0; !err && cpu < cpus; cpu++)
			books_add(&grown->books, &each[cpu]);
		books_add(&ledger->total, &grown->books);
		previous = &key;
	}
	free(each);
	return err;
}

/* Names every stack of the map at once, because a pass over all symbols of a kernel is slow. */
static int name_stacks(const struct probes_view *view, struct ledger *ledger,
		       const struct copied_from *from)
{
	uint64_t *frames = malloc(ledger->stack_count * sizeof(from->frames) + 1);
	struct symbols *symbols;

	if (!frames)
		return -ENOMEM;
	for (int i = 0; i < ledger->stack_count; i++)
		memcpy(frames + i * CAUSE_FRAMES, from[i].frames, sizeof(from->frames));
	symbols = symbols_load(view, frames, ledger->stack_count * CAUSE_FRAMES);
	for (int i = 0; i < ledger->stack_count; i++) {
		struct copy_stack *stack = &ledger->stacks[i];

		memcpy(frames, from[i].frames, sizeof(from->frames));
		symbols_join(symbols, frames, CAUSE_FRAMES, stack->frames, STACK_TEXT_BYTES);
	}
	symbols_free(symbols);
	free(frames);
	return 0;
}

/* The two maps of copies: by whole stacks, and by calls whose cause is decided. */
static const char *const maps_of_copies[] = { "causes", "known_calls" };

union copy_key {
	struct copied_from from;
	struct copy_call call;
};

static int count_keys(int fd)
{
	union copy_key key;
	void *previous = NULL;
	int count = 0;

	for (; !bpf_map_get_next_key(fd, previous, &key); previous = &key)
		count++;
	return count;
}

/* A call is a stack of the addresses that were kept. */
static struct copied_from stack_of(const union copy_key *key, bool is_call)
{
	const struct copy_call *call = &key->call;

	return is_call ? (struct copied_from){ .frames = { call->copier, call->caller },
					       .site = call->site,
					       .circumstances = call->circumstances } : key->from;
}

/* Reads at most @room keys: their sums to @ledger, their frames to @from. */
static int read_copies(int fd, bool calls, int room, int cpus, struct ledger *ledger,
		       struct copied_from *from)
{
	struct tally *each = calloc(cpus, sizeof(*each));
	void *previous = NULL;
	union copy_key key;
	int err = each ? 0 : -ENOMEM;

	for (; !err && room && !bpf_map_get_next_key(fd, previous, &key); room--) {
		struct copy_stack *stack = &ledger->stacks[ledger->stack_count];

		from[ledger->stack_count] = stack_of(&key, calls);
		stack->site = from[ledger->stack_count].site;
		stack->circumstances = from[ledger->stack_count++].circumstances;
		if (bpf_map_lookup_elem(fd, &key, each))
			err = -errno;
		for (int cpu = 0; !err && cpu < cpus; cpu++)
			tally_add(&stack->tally, &each[cpu]);
		previous = &key;
	}
	free(each);
	return err;
}

static int ledger_read_causes(const struct probes_view *view, int cpus, struct ledger *ledger)
{
	struct copied_from *from;
	int fds[2], room[2], err;

	for (int i = 0; i < 2; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(view->object, maps_of_copies[i]);

		fds[i] = map ? bpf_map__fd(map) : -1;
		room[i] = map ? count_keys(fds[i]) : 0;
	}
	from = calloc(room[0] + room[1] + 1, sizeof(*from));
	ledger->stacks = calloc(room[0] + room[1] + 1, sizeof(*ledger->stacks));
	err = from && ledger->stacks ? 0 : -ENOMEM;
	for (int i = 0; i < 2 && !err; i++)
		err = read_copies(fds[i], i, room[i], cpus, ledger, from);
	if (!err)
		err = name_stacks(view, ledger, from);
	free(from);
	return err;
}

void ledger_prepare(const struct probes_view *view)
{
	/* libbpf caches the number. */
	libbpf_num_possible_cpus();
	symbols_prepare(view);
}

bool ledger_readable(const struct probes_view *view)
{
	uint64_t key;

	return !bpf_map_get_next_key(map_fd(view, "book_numbers"), NULL, &key) || errno == ENOENT;
}

int ledger_read(const struct probes_view *view, struct ledger *ledger)
{
	int cpus = libbpf_num_possible_cpus(), err;

	*ledger = (struct ledger){ .gauges = *view->gauges };
	for (int cpu = 0; cpu < SEEN_CPUS; cpu++)
		if (view->seen[cpu].peak_pages > ledger->gauges.peak_pages)
			ledger->gauges.peak_pages = view->seen[cpu].peak_pages;
	err = ledger_read_books(view, cpus, ledger);
	return err ? err : ledger_read_causes(view, cpus, ledger);
}
