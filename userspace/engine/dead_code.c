// SPDX-License-Identifier: GPL-2.0
/* Takes out of a program what it never comes to, by what is set before load. */
#include "userspace/engine/dead_code.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "userspace/engine/instructions.h"

enum { REGISTERS = 16 };	/* as many as an instruction can name */

/* What is known of a register. */
struct known {
	enum { NOTHING, NUMBER, ADDRESS } of;	/* of what the map holds */
	uint64_t value;			/* an address: how far into the map */
};

struct code {
	struct bpf_insn *insns;
	size_t count;
	const struct frozen_map *map;
	bool *landed;	/* another instruction jumps there, or a function begins */
	bool *reached;
	size_t *places;	/* what is to be followed; then where instructions are in what is left */
};

static size_t target_of(const struct code *c, size_t i)
{
	int64_t to = (int64_t)i + 1 + insn_distance(&c->insns[i]);

	return to >= 0 && (size_t)to < c->count ? (size_t)to : c->count;
}

static void follow(struct code *c, size_t i, size_t *waiting, bool lands)
{
	if (i >= c->count)
		return;
	c->landed[i] |= lands;
	if (c->reached[i])
		return;
	c->reached[i] = true;
	c->places[(*waiting)++] = i;
}

/* From the first instruction on. */
static void reach(struct code *c)
{
	size_t waiting = 0;

	memset(c->landed, 0, c->count * sizeof(*c->landed));
	memset(c->reached, 0, c->count * sizeof(*c->reached));
	follow(c, 0, &waiting, true);
	while (waiting) {
		size_t i = c->places[--waiting];
		const struct bpf_insn *insn = &c->insns[i];

		if (insn_jumps(insn) || insn_names_function(insn))
			follow(c, target_of(c, i), &waiting, true);
		if (insn->code == WIDE_LOAD && i + 1 < c->count)
			c->reached[i + 1] = true;
		if (!insn_goes(insn) && insn->code != (BPF_JMP | BPF_EXIT))
			follow(c, i + (insn->code == WIDE_LOAD ? 2 : 1), &waiting, false);
	}
}

static struct known loaded(const struct code *c, const struct bpf_insn *insn, struct known from)
{
	uint64_t at = from.value + (int64_t)insn->off;
	size_t bytes = insn_bytes(insn);

	if (from.of != ADDRESS || BPF_MODE(insn->code) != BPF_MEM || at > c->map->bytes ||
	    bytes > c->map->bytes - at)
		return (struct known){ NOTHING };
	return (struct known){ NUMBER, value_at((const char *)c->map->values + at, bytes) };
}

static struct known wide(const struct code *c, const struct bpf_insn *insn)
{
	if (!insn->src_reg)
		return (struct known){ NUMBER, (uint32_t)insn->imm | (uint64_t)(uint32_t)insn[1].imm << 32 };
	if (c->map && insn->src_reg == BPF_PSEUDO_MAP_VALUE && insn->imm == c->map->fd)
		return (struct known){ ADDRESS, (uint32_t)insn[1].imm };
	return (struct known){ NOTHING };
}

static struct known computed(const struct bpf_insn *insn, struct known had, struct known from)
{
	bool narrow = BPF_CLASS(insn->code) == BPF_ALU;
	struct known k = had;

	switch (insn->code & ~BPF_CLASS(0xff)) {
	case BPF_MOV | BPF_K:
		k = (struct known){ NUMBER, (int64_t)insn->imm };
		break;
	case BPF_MOV | BPF_X:
		k = insn->off ? (struct known){ NOTHING } : from;
		break;
	case BPF_AND | BPF_K:
		k.value &= (int64_t)insn->imm;
		break;
	default:
		return (struct known){ NOTHING };
	}
	if (k.of == ADDRESS && (narrow || BPF_OP(insn->code) != BPF_MOV))
		k.of = NOTHING;
	if (narrow)
		k.value = (uint32_t)k.value;
	return k;
}

/* 1 or 0; -1: not known. */
static int decided(const struct bpf_insn *insn, struct known k)
{
	bool narrow = BPF_CLASS(insn->code) == BPF_JMP32;
	uint64_t with = narrow ? (uint32_t)insn->imm : (uint64_t)(int64_t)insn->imm;
	uint64_t value = narrow ? (uint32_t)k.value : k.value;

	if (k.of != NUMBER || BPF_SRC(insn->code) != BPF_K)
		return -1;
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return value == with;
	case BPF_JNE:
		return value != with;
	case BPF_JGT:
		return value > with;
	case BPF_JGE:
		return value >= with;
	case BPF_JLT:
		return value < with;
	case BPF_JLE:
		return value <= with;
	case BPF_JSET:
		return (value & with) != 0;
	}
	return -1;
}

/* What a register holds that the instruction wrote. */
static void step(const struct code *c, const struct bpf_insn *insn, struct known regs[REGISTERS])
{
	struct known *to = &regs[insn->dst_reg];

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		*to = computed(insn, *to, regs[insn->src_reg]);
		break;
	case BPF_LDX:
		*to = c->map ? loaded(c, insn, regs[insn->src_reg]) : (struct known){ NOTHING };
		break;
	case BPF_LD:
		if (insn->code != WIDE_LOAD)
			memset(regs, 0, REGISTERS * sizeof(*regs));
		else
			*to = wide(c, insn);
		break;
	case BPF_STX:
		if (BPF_MODE(insn->code) != BPF_MEM)
			regs[insn->src_reg] = regs[BPF_REG_0] = (struct known){ NOTHING };
		break;
	case BPF_JMP:
	case BPF_JMP32:
		if (BPF_OP(insn->code) == BPF_CALL)
			memset(regs, 0, (BPF_REG_5 + 1) * sizeof(*regs));
		break;
	}
}

/* Decides the jumps that are known. Did it any? */
static bool decide(struct code *c)
{
	struct known regs[REGISTERS] = {};
	bool any = false;

	/* What follows a jump or an exit is landed on, or not reached. */
	for (size_t i = 0; i < c->count; i++) {
		struct bpf_insn *insn = &c->insns[i];
		int taken;

		if (!c->reached[i] || c->landed[i])
			memset(regs, 0, sizeof(regs));
		if (!c->reached[i])
			continue;
		taken = insn_jumps(insn) && !insn_goes(insn) ? decided(insn, regs[insn->dst_reg]) : -1;
		step(c, insn, regs);
		if (taken >= 0) {
			*insn = (struct bpf_insn){ .code = BPF_JMP | BPF_JA, .off = taken ? insn->off : 0 };
			any = true;
		}
		i += insn->code == WIDE_LOAD;
	}
	return any;
}

/* Which instructions are left, and where: .places has of each where the first is that is left from there on. Returns
 * how many. A jump over nothing that is left is not. */
static size_t place(struct code *c)
{
	size_t left = 0, first = c->count;

	for (size_t i = c->count; i-- > 0;) {
		size_t to = insn_goes(&c->insns[i]) ? target_of(c, i) : 0;

		if (c->reached[i] && to > i && to < c->count && c->places[to] == first)
			c->reached[i] = false;
		if (c->reached[i])
			first = i;
		c->places[i] = first;
	}
	for (size_t i = 0; i < c->count; i++)
		left += c->reached[i];
	return left;
}

/* From the first instruction that is left to its number among them. */
static void number(struct code *c, size_t left)
{
	for (size_t i = c->count; i-- > 0;) {
		left -= c->reached[i];
		c->places[i] = c->places[i] == c->count ? c->count : c->reached[i] ? left : c->places[i + 1];
	}
}

static void squeeze(struct code *c)
{
	size_t to = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct bpf_insn insn = c->insns[i];

		if (!c->reached[i])
			continue;
		if (insn_jumps(&insn) || insn_names_function(&insn)) {
			int64_t distance = (int64_t)c->places[target_of(c, i)] - (int64_t)c->places[i] - 1;

			if (insn_names_function(&insn) || insn.code == (BPF_JMP32 | BPF_JA))
				insn.imm = distance;
			else
				insn.off = distance;
		}
		c->insns[to++] = insn;
	}
}

/* Those of functions that are left. */
static void note_functions(const struct code *c, struct bpf_prog_load_opts *opts)
{
	char *records = (void *)opts->func_info;
	uint32_t kept = 0, size = opts->func_info_rec_size;

	for (uint32_t i = 0; records && i < opts->func_info_cnt; i++) {
		struct bpf_func_info *info = (void *)(records + (size_t)i * size);

		if (info->insn_off >= c->count || !c->landed[info->insn_off])
			continue;
		info->insn_off = c->places[info->insn_off];
		memmove(records + (size_t)kept++ * size, info, size);
	}
	opts->func_info_cnt = kept;
}

/* Of lines that come to the same instruction the last: a function's own is behind what is gone before it. */
static void note_lines(const struct code *c, struct bpf_prog_load_opts *opts)
{
	char *records = (void *)opts->line_info;
	uint32_t kept = 0, size = opts->line_info_rec_size;
	size_t last = c->count;

	for (uint32_t i = 0; records && i < opts->line_info_cnt; i++) {
		struct bpf_line_info *info = (void *)(records + (size_t)i * size);
		size_t at = info->insn_off < c->count ? c->places[info->insn_off] : c->count;

		if (at == c->count)
			continue;
		kept -= at == last;
		last = info->insn_off = at;
		memmove(records + (size_t)kept++ * size, info, size);
	}
	opts->line_info_cnt = kept;
}

size_t dead_code_drop(struct bpf_insn *insns, size_t count, const struct frozen_map *map,
		      struct bpf_prog_load_opts *opts)
{
	struct code c = { insns, count, map, calloc(count, sizeof(bool)), calloc(count, sizeof(bool)),
			  calloc(count, sizeof(size_t)) };
	size_t left = count;

	if (c.landed && c.reached && c.places) {
		do
			reach(&c);
		while (decide(&c));
		left = place(&c);
		number(&c, left);
		note_functions(&c, opts);
		note_lines(&c, opts);
		squeeze(&c);
	}
	free(c.landed);
	free(c.reached);
	free(c.places);
	return left;
}
