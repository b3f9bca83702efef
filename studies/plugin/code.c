// SPDX-License-Identifier: GPL-2.0
/* Finds out what a block of translated code is part of, and whether it ends with a call or a return. */
#include "studies/plugin/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/guest_marker.h"

enum { FUNCTIONS_MAX = 128 };

struct function {
	enum { FUNCTION_ENTERED, FUNCTION_SWITCHES, FUNCTION_COPIES } kind;
	enum entry enters;
	unsigned int site, call;
	uint64_t start, end;
};

static struct function functions[FUNCTIONS_MAX];
static int function_count;
static struct block *blocks;
static enum ending (*ending_of)(const uint8_t *code, size_t bytes);

/* An instruction of x86 may have prefixes before its opcode. */
static enum ending x86_ending(const uint8_t *code, size_t bytes)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3 };

	while (bytes > 1 && (memchr(prefixes, *code, sizeof(prefixes)) || *code >> 4 == 4)) {
		code++;
		bytes--;
	}
	if (*code == 0xc3 || *code == 0xc2)
		return ENDS_WITH_RETURN;
	if (*code == 0xe8 || (bytes > 1 && *code == 0xff && (code[1] >> 3 & 7) == 2))
		return ENDS_WITH_CALL;
	return ENDS_OTHERWISE;
}

/* BL, BLR, RET, and those with pointer authentication. */
static enum ending arm64_ending(const uint8_t *code, size_t bytes)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
	    (word & 0xfefff800) == 0xd63f0800)
		return ENDS_WITH_CALL;
	if ((word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff)
		return ENDS_WITH_RETURN;
	return ENDS_OTHERWISE;
}

bool code_target(const char *name)
{
	ending_of = !strcmp(name, "x86_64") ? x86_ending : !strcmp(name, "aarch64") ? arm64_ending : NULL;
	return ending_of;
}

static void apply(const struct function *f, struct block *b)
{
	bool begins = b->start == f->start, inside = b->start >= f->start && b->start < f->end;

	if (f->kind == FUNCTION_ENTERED && begins) {
		b->enters = f->enters;
		b->site = f->site;
		b->call = f->call;
	} else if (f->kind == FUNCTION_SWITCHES && inside) {
		b->switches = true;
	} else if (f->kind == FUNCTION_COPIES && inside) {
		b->copies = true;
		b->copy_begins = begins;
	}
}

struct block *code_block(const struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
	size_t bytes = qemu_plugin_insn_size(last);
	struct block *b = calloc(1, sizeof(*b));

	if (!b) {
		fprintf(stderr, "copyscope plugin: out of memory\n");
		abort();
	}
	b->start = qemu_plugin_tb_vaddr(tb);
	b->end = qemu_plugin_insn_vaddr(last) + bytes;
	b->kernel = b->start >> 63;
	b->ends = ending_of(qemu_plugin_insn_data(last), bytes);
	for (const struct function *f = functions; f < functions + function_count; f++)
		apply(f, b);
	b->next = blocks;
	blocks = b;
	return b;
}

static bool parse(const char *line, struct function *f)
{
	static const struct { const char *name; enum entry enters; } entries[] = {
		{ "softirq", ENTRY_SOFTIRQ }, { "irq", ENTRY_IRQ }, { "fresh", ENTRY_FRESH_TASK },
	};
	char name[16];

	*f = (struct function){ .enters = ENTRY_SITE };
	if (sscanf(line, "site %u %" SCNx64 " %u", &f->site, &f->start, &f->call) == 3)
		return f->site && f->site < MARKER_SITES;
	f->enters = ENTRY_CALL;
	if (sscanf(line, "call %u %" SCNx64, &f->call, &f->start) == 2)
		return f->call;
	if (sscanf(line, "%15s %" SCNx64 " %" SCNx64, name, &f->start, &f->end) < 2)
		return false;
	f->kind = !strcmp(name, "switch") ? FUNCTION_SWITCHES : FUNCTION_COPIES;
	if (!strcmp(name, "switch") || !strcmp(name, "copy"))
		return f->end > f->start;
	f->kind = FUNCTION_ENTERED;
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		f->enters = entries[i].enters;
		if (!strcmp(name, entries[i].name))
			return true;
	}
	return false;
}

bool code_learn(const char *line)
{
	struct function *f = &functions[function_count];

	if (function_count == FUNCTIONS_MAX || !parse(line, f))
		return false;
	/* Each pass of a run tells all of them again. */
	for (const struct function *known = functions; known < f; known++)
		if (known->kind == f->kind && known->enters == f->enters && known->start == f->start)
			return true;
	function_count++;
	for (struct block *b = blocks; b; b = b->next)
		apply(f, b);
	return true;
}

void code_forget_blocks(void)
{
	while (blocks) {
		struct block *b = blocks;

		blocks = b->next;
		free(b);
	}
}
