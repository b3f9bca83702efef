// SPDX-License-Identifier: GPL-2.0
/* Names kernel addresses, by a program that the kernel runs. */
#include "userspace/engine/symbols.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/engine/engine_inside.h"

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

void symbols_prepare(const struct engine *e)
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

void symbols_join(const struct symbols *symbols, const uint64_t *frames, int count, char *text,
		  size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int i = 0; symbols && i < count && frames[i] && used < size; i++) {
		const char *name = name_of(symbols, frames[i]);

		if (!*name || is_bpf(name))
			continue;
		used += snprintf(text + used, size - used, "%s%s", used ? " < " : "", name);
	}
}
