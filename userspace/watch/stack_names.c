// SPDX-License-Identifier: GPL-2.0
/* Puts each stack together and names its frames, by the files that its process had mapped. */
#include "userspace/watch/stack_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/watch/elf_file.h"

enum { PERF_MAP_MOST = 64 << 20, JITTED_MOST = 1 << 20, FRAMES_MOST = USER_FRAMES + USER_CALLERS };

/* A function that a compiler made at run time. */
struct jitted {
	uint64_t start, bytes;
	const char *name;
};

struct jit {
	char *text;		/* owned, these two */
	struct jitted *functions;
	int count;
	bool read;
};

struct naming {
	const struct program_maps *maps;
	struct user_stacks *out;
	struct elf_file **elves;	/* in the order of files; owned */
	bool *tried;			/* the same */
	int *modules;			/* the same: place in out->modules plus 1 */
	struct jit *jits;		/* in the order of programs; owned */
	int *notes, note_room, frame_room, place_room;	/* places of frames plus 1, by their hash; owned */
	int failure;
};

/* A frame before it has a name. */
struct spot {
	const struct program *program;	/* NULL: nothing is known of it */
	const struct code *code;	/* NULL: no code is there */
	uint64_t address;		/* in the process: of the call, where it is one */
};

static struct elf_file *elf_of(struct naming *n, int file)
{
	if (!n->tried[file]) {
		n->tried[file] = true;
		if (n->maps->files[file].fd >= 0)
			n->elves[file] = elf_file_open(n->maps->files[file].fd);
		if (n->elves[file] && n->maps->files[file].apart >= 0)
			elf_file_add_symbols(n->elves[file], n->maps->files[file].apart);
	}
	return n->elves[file];
}

static struct spot spot_of(const struct program *p, uint64_t address)
{
	return (struct spot){ p, p ? program_code_at(p, address) : NULL, address };
}

static uint64_t linked_address(struct naming *n, const struct spot *s)
{
	uint64_t offset = s->address - s->code->start + s->code->offset;
	struct elf_file *elf = elf_of(n, s->code->file);

	return elf ? elf_file_address(elf, offset) : offset;
}

/* How the code there finds its caller; what has no file does so by its frame pointer. */
static enum frame_rule rule_at(struct naming *n, const struct spot *s, uint64_t *bytes, bool *in_register)
{
	struct elf_file *elf = s->code && s->code->file >= 0 ? elf_of(n, s->code->file) : NULL;

	return elf ? elf_file_rule(elf, linked_address(n, s), bytes, in_register) : FRAME_UNKNOWN;
}

static uint64_t word_that_calls(const struct user_stack *s, uint64_t number)
{
	for (int i = 0; i < USER_CALLERS; i++)
		if (s->caller_at[i] == number && number)
			return s->callers[i];
	return 0;
}

/* Calls above the last one whose functions have no frame pointer: by the words that the programs kept, where the
 * files say that they are the return addresses. How many. */
static int callers_find(struct naming *n, const struct program *p, const struct user_stack *s,
			uint64_t found[USER_CALLERS])
{
	struct spot at = spot_of(p, s->frames[0]);
	uint64_t moved = 0, bytes = 0, caller;
	int count = 0;

	while (s->caller_at[0] && count < USER_CALLERS) {
		bool in_register = false;

		if (rule_at(n, &at, &bytes, &in_register) != FRAME_BY_STACK)
			break;
		moved += bytes;
		caller = word_that_calls(s, in_register ? CALLER_IN_REGISTER : moved / 8);
		if (!caller)
			break;
		found[count++] = caller;
		at = spot_of(p, caller - 1);
	}
	return count;
}

static void jit_parse(struct jit *jit)
{
	char *line = jit->text, *rest;

	for (; line && *line && jit->count < JITTED_MOST; line = rest) {
		struct jitted one;
		int name = 0;

		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &one.start, &one.bytes, &name) < 2 || !name)
			continue;
		one.name = line + name;
		jit->functions[jit->count++] = one;
	}
}

/* One line each: start, length, name. The last one counts where code was made anew. */
static void jit_read(struct jit *jit, int fd)
{
	struct stat state;
	ssize_t got;

	jit->read = true;
	if (fd < 0 || fstat(fd, &state) || state.st_size > PERF_MAP_MOST)
		return;
	jit->text = malloc(state.st_size + 1);
	jit->functions = malloc((state.st_size / 6 + 1 < JITTED_MOST ? state.st_size / 6 + 1 : JITTED_MOST) *
				sizeof(*jit->functions));
	got = jit->text && jit->functions ? pread(fd, jit->text, state.st_size, 0) : -1;
	if (got < 0)
		return;
	jit->text[got] = '\0';
	jit_parse(jit);
}

static const char *jitted_name(struct naming *n, const struct spot *s)
{
	struct jit *jit = &n->jits[s->program - n->maps->programs];

	if (!jit->read)
		jit_read(jit, s->program->perf_map);
	for (int i = jit->count - 1; i >= 0; i--)
		if (s->address >= jit->functions[i].start && s->address - jit->functions[i].start < jit->functions[i].bytes)
			return jit->functions[i].name;
	return NULL;
}

static uint32_t module_of(struct naming *n, int file)
{
	struct user_stacks *out = n->out;
	struct elf_file *elf;

	if (n->modules[file])
		return n->modules[file] - 1;
	elf = elf_of(n, file);
	out->modules[out->module_count] = n->maps->files[file].module;
	out->modules[out->module_count].unread |= !elf;
	if (elf)
		elf_file_identify(elf, &out->modules[out->module_count]);
	n->modules[file] = ++out->module_count;
	return n->modules[file] - 1;
}

static void frame_fill(struct naming *n, const struct spot *s, struct stack_frame *frame)
{
	const char *jitted;

	*frame = (struct stack_frame){ .module = NO_MODULE, .offset = s->address };
	if (s->code && s->code->file >= 0) {
		frame->module = module_of(n, s->code->file);
		frame->offset = linked_address(n, s);
		return;
	}
	jitted = s->code ? jitted_name(n, s) : NULL;
	if (jitted)
		snprintf(frame->function, sizeof(frame->function), "%s", jitted);
}

static uint64_t hash_of(const struct stack_frame *f)
{
	uint64_t hash = (f->offset ^ (uint64_t)f->module << 48) * 0x9e3779b97f4a7c15ull;

	for (const char *at = f->function; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3ull;
	return hash >> 20;
}

/* Where the frame is noted, or is to be. */
static int *note_of(const struct naming *n, const struct stack_frame *f)
{
	unsigned int at = hash_of(f) & (n->note_room - 1);

	for (; n->notes[at]; at = (at + 1) & (n->note_room - 1)) {
		const struct stack_frame *known = &n->out->frames[n->notes[at] - 1];

		if (known->module == f->module && known->offset == f->offset &&
		    (f->module != NO_MODULE || !strcmp(known->function, f->function)))
			break;
	}
	return &n->notes[at];
}

static bool frames_grow(struct naming *n)
{
	int room = n->frame_room ? 2 * n->frame_room : 1024;
	struct stack_frame *more;

	if (n->out->frame_count < n->frame_room)
		return true;
	more = realloc(n->out->frames, room * sizeof(*more));
	if (!more)
		return false;
	n->out->frames = more;
	n->frame_room = room;
	free(n->notes);
	n->note_room = 2 * room;
	n->notes = calloc(n->note_room, sizeof(*n->notes));
	for (int i = 0; n->notes && i < n->out->frame_count; i++)
		*note_of(n, &more[i]) = i + 1;
	return n->notes;
}

/* Place of the frame in the record; a new one gets its name. */
static uint32_t frame_number(struct naming *n, const struct spot *s)
{
	struct stack_frame frame;
	int *note;

	frame_fill(n, s, &frame);
	if (!frames_grow(n)) {
		n->failure = -ENOMEM;
		return 0;
	}
	note = note_of(n, &frame);
	if (!*note) {
		if (frame.module != NO_MODULE && elf_of(n, s->code->file))
			elf_file_function(elf_of(n, s->code->file), frame.offset, frame.function);
		n->out->frames[n->out->frame_count] = frame;
		*note = ++n->out->frame_count;
	}
	return *note - 1;
}

static void place_add(struct naming *n, struct call_stack *stack, const struct spot *s)
{
	struct user_stacks *out = n->out;
	uint32_t *more = out->places;

	if (out->place_count == n->place_room) {
		n->place_room = n->place_room ? 2 * n->place_room : 4096;
		more = realloc(out->places, n->place_room * sizeof(*more));
	}
	if (!more) {
		n->failure = -ENOMEM;
		return;
	}
	out->places = more;
	more[out->place_count++] = frame_number(n, s);
	stack->count++;
}

/* What a register held that was no frame pointer ends where no code is. */
static void stack_fill(struct naming *n, const struct user_stack *s, struct call_stack *stack)
{
	const struct program *p = program_maps_find(n->maps, s->tgid, s->started_ns);
	uint64_t callers[USER_CALLERS];
	struct spot at;
	int found;

	/* One that was ending had let go of its memory already. */
	if (p && !p->count)
		p = NULL;
	found = p && s->depth ? callers_find(n, p, s, callers) : 0;
	stack->first = n->out->place_count;
	stack->end = !s->depth ? (s->cut ? STACK_OF_RING : STACK_OF_KERNEL) : !p ? STACK_UNREAD : s->cut ? STACK_CUT : STACK_WHOLE;
	for (unsigned int i = 0; i < s->depth + found && i < FRAMES_MOST && !n->failure; i++) {
		/* Behind the innermost one are calls, and those found stand there. */
		uint64_t address = !i ? s->frames[0] : (int)i <= found ? callers[i - 1] - 1 : s->frames[i - found] - 1;

		at = spot_of(p, address);
		if (p && !at.code) {
			stack->end = STACK_BROKE;
			break;
		}
		place_add(n, stack, &at);
	}
	/* What no frame led to is not where the program began. */
	if (stack->end == STACK_WHOLE && s->depth < 2)
		stack->end = STACK_BROKE;
}

static int by_value(const void *a, const void *b)
{
	return numbers_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Each once, sorted. */
static int addresses_take(const struct user_stack *stacks, int count, uint64_t *all)
{
	int found = 0, kept = 0;

	for (int i = 0; i < count; i++) {
		memcpy(all + found, stacks[i].frames, stacks[i].depth * sizeof(*all));
		found += stacks[i].depth;
	}
	if (found)
		qsort(all, found, sizeof(*all), by_value);
	for (int i = 0; i < found; i++)
		if (!i || all[i] != all[i - 1])
			all[kept++] = all[i];
	return kept;
}

int stack_addresses_fill(const struct user_stack *stacks, struct user_stacks *out)
{
	uint64_t *all;
	int depth = 0, err;

	for (int i = 0; i < out->stack_count; i++)
		depth += stacks[i].depth;
	all = malloc((depth + 1) * sizeof(*all));
	out->frame_count = all ? addresses_take(stacks, out->stack_count, all) : 0;
	out->frames = calloc(out->frame_count + 1, sizeof(*out->frames));
	out->places = calloc(depth + 1, sizeof(*out->places));
	err = all && out->frames && out->places ? 0 : -ENOMEM;
	for (int i = 0; i < out->frame_count && !err; i++)
		out->frames[i] = (struct stack_frame){ .module = NO_MODULE, .offset = all[i] };
	for (int i = 0; i < out->stack_count && !err; i++) {
		struct call_stack *stack = &out->stacks[i];

		stack->first = out->place_count;
		stack->end = stacks[i].depth ? STACK_UNREAD : STACK_OF_KERNEL;
		while (stack->count < (int)stacks[i].depth) {
			const uint64_t *at = bsearch(&stacks[i].frames[stack->count++], all, out->frame_count,
						     sizeof(*all), by_value);

			out->places[out->place_count++] = at - all;
		}
	}
	free(all);
	return err;
}

static void naming_end(struct naming *n)
{
	for (int i = 0; n->elves && i < n->maps->file_count; i++)
		elf_file_close(n->elves[i]);
	for (int i = 0; n->jits && i < n->maps->program_count; i++) {
		free(n->jits[i].text);
		free(n->jits[i].functions);
	}
	free(n->elves);
	free(n->tried);
	free(n->modules);
	free(n->jits);
	free(n->notes);
}

int stack_names_fill(const struct program_maps *maps, const struct user_stack *stacks, struct user_stacks *out)
{
	int files = maps->file_count + 1;
	struct naming n = {
		.maps = maps, .out = out,
		.elves = calloc(files, sizeof(*n.elves)), .tried = calloc(files, sizeof(*n.tried)),
		.modules = calloc(files, sizeof(*n.modules)),
		.jits = calloc(maps->program_count + 1, sizeof(*n.jits)),
	};

	out->modules = calloc(files, sizeof(*out->modules));
	if (!n.elves || !n.tried || !n.modules || !n.jits || !out->modules)
		n.failure = -ENOMEM;
	for (int i = 0; i < out->stack_count && !n.failure; i++)
		stack_fill(&n, &stacks[i], &out->stacks[i]);
	naming_end(&n);
	return n.failure;
}
