// SPDX-License-Identifier: GPL-2.0
/* The stacks that copied: which callers decide a cause is told to the programs, what they kept is read, and what is of
 * the kernel is named. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/engine/engine_inside.h"
#include "userspace/record/ledger.h"
#include "userspace/tables/callers.h"

/* Names kernel addresses, by a program that the kernel runs. */

/* A function by an address in it. */
struct symbol {
	uint64_t address;
	char name[SYMBOL_BYTES];	/* empty: the kernel hides it (kernel.kptr_restrict) */
};

struct symbols {
	int count;
	struct symbol symbol[];		/* by address, ascending */
};

/* False if the kernel has not loaded that program, or does not run it. */
static bool run(const struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = bpf_program__fd(prog);

	return fd >= 0 && !bpf_prog_test_run_opts(fd, &opts);
}

/* Between load and attachment: tells the programs where the kernel's lists of captures lie. */
static void symbols_prepare(const struct engine *e)
{
	run(e->skel->progs.symbols_find);
}

/* The kernel writes "name [module]", or the address itself if no symbol holds it. */
static void copy_name(char to[SYMBOL_BYTES], const char *said)
{
	size_t length = strcspn(said, " ");

	if (!strncmp(said, "0x", 2))
		length = 0;
	memcpy(to, said, length);
	to[length] = '\0';
}

static void name_all(const struct engine *e, struct symbols *symbols)
{
	struct symbol_names *names = &e->skel->bss->symbol_names;

	for (int from = 0; from < symbols->count; from += SYMBOLS_AT_ONCE) {
		int count = symbols->count - from;

		if (count > SYMBOLS_AT_ONCE)
			count = SYMBOLS_AT_ONCE;
		for (int i = 0; i < SYMBOLS_AT_ONCE; i++)
			names->address[i] = i < count ? symbols->symbol[from + i].address : 0;
		if (!run(e->skel->progs.symbols_name))
			return;
		for (int i = 0; i < count; i++)
			copy_name(symbols->symbol[from + i].name, names->name[i]);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

struct symbols *symbols_load(const struct engine *e, uint64_t *addresses, int count)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols) + count * sizeof(*symbols->symbol));

	if (!symbols)
		return NULL;
	qsort(addresses, count, sizeof(*addresses), compare);
	for (int i = 0; i < count; i++)
		if (addresses[i] && (!i || addresses[i] != addresses[i - 1]))
			symbols->symbol[symbols->count++].address = addresses[i];
	name_all(e, symbols);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	free(symbols);
}

static const char *name_of(const struct symbols *symbols, uint64_t address)
{
	const struct symbol *found = bsearch(&address, symbols->symbol, symbols->count,
					     sizeof(*symbols->symbol), compare);

	return found ? found->name : "";
}

static bool is_bpf(const char *name)
{
	return !strncmp(name, "bpf_prog_", 9) || !strncmp(name, "bpf_trampoline_", 15);
}

void symbols_join(const struct symbols *symbols, const uint64_t *frames, int count, bool programs, char *text,
		  size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; symbols && i < count && frames[i] && used < size; i++) {
		const char *name = name_of(symbols, frames[i]);

		if (!*name || (!programs && is_bpf(name)))
			continue;
		used += snprintf(text + used, size - used, "%s%s", used ? " < " : "", name);
	}
}

/* A row for PULL decides behind another function alone, so the caller by itself decides nothing. */
enum {
	LATE = 1u << SITE_late_copy,
	RESHAPE = 1u << SITE_reshape,
	BOTH = LATE | RESHAPE,
	PULL = 0,
};

static const struct copy_caller {
	const char *function;
	uint32_t decides;
} copy_callers[] = {
	{ "skb_copy_ubufs", CALLER_DECIDES },
	{ "skb_copy_bits", CALLER_DECIDES },
#define ROW(function, cause, where) { function, where },
	CALLERS(ROW)
#undef ROW
};

_Static_assert(sizeof(copy_callers) / sizeof(*copy_callers) <= COPY_CALLERS_MAX, "a caller may find no room");

static void copy_callers_fill(const struct engine *e)
{
	int fd = bpf_map__fd(e->skel->maps.copy_callers);

	for (size_t i = 0; i < sizeof(copy_callers) / sizeof(*copy_callers); i++) {
		struct function_name name = {};
		uint32_t decides = 0;

		snprintf(name.text, sizeof(name.text), "%s", copy_callers[i].function);
		bpf_map_lookup_elem(fd, &name, &decides);
		decides |= copy_callers[i].decides;
		bpf_map_update_elem(fd, &name, &decides, BPF_ANY);
	}
}

/* A function that finds no room in the map is not known there: its copies are charged to whole stacks. */
void engine_prepare_stacks(const struct engine *e)
{
	/* libbpf caches the number. */
	libbpf_num_possible_cpus();
	symbols_prepare(e);
	copy_callers_fill(e);
}

/* Names every stack of the map at once, because a pass over all symbols of a kernel is slow. */
static int name_stacks(const struct engine *e, struct ledger *ledger,
		       const struct copied_from *from)
{
	uint64_t *frames = malloc(ledger->stack_count * sizeof(from->frames) + 1);
	struct symbols *symbols;

	if (!frames)
		return -ENOMEM;
	for (int i = 0; i < ledger->stack_count; i++)
		memcpy(frames + i * CAUSE_FRAMES, from[i].frames, sizeof(from->frames));
	symbols = symbols_load(e, frames, ledger->stack_count * CAUSE_FRAMES);
	for (int i = 0; i < ledger->stack_count; i++) {
		struct copy_stack *stack = &ledger->stacks[i];

		memcpy(frames, from[i].frames, sizeof(from->frames));
		symbols_join(symbols, frames, CAUSE_FRAMES, false, stack->frames, STACK_TEXT_BYTES);
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

int count_keys(int fd, void *key)
{
	int count = 0;

	for (void *previous = NULL; !bpf_map_get_next_key(fd, previous, key); previous = key)
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

int engine_stacks(const struct engine *e, struct ledger *ledger)
{
	int cpus = libbpf_num_possible_cpus();
	struct copied_from *from;
	union copy_key key;
	int fds[2], room[2], err;

	for (int i = 0; i < 2; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(e->skel->obj, maps_of_copies[i]);

		fds[i] = map ? bpf_map__fd(map) : -1;
		room[i] = map ? count_keys(fds[i], &key) : 0;
	}
	from = calloc(room[0] + room[1] + 1, sizeof(*from));
	ledger->stacks = calloc(room[0] + room[1] + 1, sizeof(*ledger->stacks));
	err = from && ledger->stacks ? 0 : -ENOMEM;
	for (int i = 0; i < 2 && !err; i++)
		err = read_copies(fds[i], i, room[i], cpus, ledger, from);
	if (!err)
		err = name_stacks(e, ledger, from);
	free(from);
	return err;
}

/* Stacks of user space, which others name. */

void engine_stacks_gate(struct engine *e, bool open)
{
	__atomic_store_n(&e->skel->bss->stacks_open, open, __ATOMIC_SEQ_CST);
	__atomic_store_n(&e->skel->bss->cpu_closed, !open, __ATOMIC_SEQ_CST);
}

static int news_take(void *arg, void *data, size_t size)
{
	const struct engine *e = arg;

	if (size == sizeof(struct stack_task) && e->stack_new)
		e->stack_new(e->stack_new_arg, data);
	return 0;
}

int stacks_prepare(struct engine *e)
{
	e->news = ring_buffer__new(bpf_map__fd(e->skel->maps.stack_news), news_take, e, NULL);
	return e->news ? 0 : -errno;
}

void engine_stacks_new(struct engine *e, void (*each)(void *arg, const struct stack_task *task), void *arg)
{
	e->stack_new = each;
	e->stack_new_arg = arg;
	ring_buffer__consume(e->news);
}

/* Stacks that come while they are counted wait for the next reading. */
static int read_user_stacks(const struct engine *e, struct user_stack *raw, int room, struct user_stacks *out)
{
	int fd = bpf_map__fd(e->skel->maps.user_stacks);
	struct user_stack *previous = NULL;

	for (; out->stack_count < room && !bpf_map_get_next_key(fd, previous, &raw[out->stack_count]);
	     out->stack_count++) {
		struct call_stack *stack = &out->stacks[out->stack_count];
		struct tally tally;

		previous = &raw[out->stack_count];
		if (bpf_map_lookup_elem(fd, previous, &tally))
			return -errno;
		*stack = (struct call_stack){ .tgid = previous->tgid, .site = previous->site,
					      .started_ns = previous->started_ns, .bytes = tally.bytes,
					      .calls = tally.calls, .end = STACK_UNREAD };
	}
	return 0;
}

int engine_user_stacks(const struct engine *e, struct user_stack **raw, struct user_stacks *out)
{
	struct user_stack key;
	int room = count_keys(bpf_map__fd(e->skel->maps.user_stacks), &key);

	*out = (struct user_stacks){ .lost_bytes = e->skel->bss->stacks_lost_bytes,
				     .lost_calls = e->skel->bss->stacks_lost_calls };
	*raw = calloc(room + 1, sizeof(**raw));
	out->stacks = calloc(room + 1, sizeof(*out->stacks));
	return *raw && out->stacks ? read_user_stacks(e, *raw, room, out) : -ENOMEM;
}
