// SPDX-License-Identifier: GPL-2.0
/* Writes what is set before load into programs, in place of the reads of it. */
#include "userspace/engine/constants.h"

#include <stdlib.h>

#include "userspace/engine/instructions.h"

struct constants {
	int fd;
	const uint8_t *values;
	size_t bytes;
};

/* A flag for each instruction that another one jumps to. */
static bool *landings(const struct bpf_insn *insns, size_t count)
{
	bool *landed = calloc(count, sizeof(*landed));

	for (size_t i = 0; landed && i < count; i++) {
		int64_t to = (int64_t)i + 1 + insn_distance(&insns[i]);

		if (insn_jumps(&insns[i]) && to >= 0 && (size_t)to < count)
			landed[to] = true;
	}
	return landed;
}

/* Does @next give the register another value, whatever it holds? */
static bool overwrites(const struct bpf_insn *next, uint8_t reg)
{
	bool moves = next->code == (BPF_ALU64 | BPF_MOV | BPF_K) || next->code == (BPF_ALU | BPF_MOV | BPF_K) ||
		     next->code == WIDE_LOAD ||
		     (next->code == (BPF_ALU64 | BPF_MOV | BPF_X) && next->src_reg != reg);

	return moves && next->dst_reg == reg;
}

/* Is the address at @insns[0] used by the read at @insns[2] alone? @last: no instruction is behind it. */
static bool read_once(const struct bpf_insn *insns, bool last)
{
	uint8_t address = insns[0].dst_reg;

	return insns[2].src_reg == address &&
	       (insns[2].dst_reg == address || (!last && overwrites(&insns[3], address)));
}

static void write_one(const struct constants *c, struct bpf_insn *insns)
{
	int64_t at = (int64_t)insns[1].imm + insns[2].off;
	size_t width = insn_bytes(&insns[2]);
	uint64_t value;

	if (at < 0 || (uint64_t)at + width > c->bytes)
		return;
	value = value_at(c->values + at, width);
	insns[0] = (struct bpf_insn){ .code = WIDE_LOAD, .dst_reg = insns[2].dst_reg, .imm = (int32_t)value };
	insns[1] = (struct bpf_insn){ .imm = (int32_t)(value >> 32) };
	insns[2] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
}

void constants_write(struct bpf_insn *insns, size_t count, int fd, const void *values, size_t bytes)
{
	const struct constants c = { fd, values, bytes };
	bool *landed = landings(insns, count);

	for (size_t i = 0; landed && i + 2 < count; i++) {
		const struct bpf_insn *read = &insns[i + 2];

		if (insns[i].code != WIDE_LOAD || insns[i].src_reg != BPF_PSEUDO_MAP_VALUE || insns[i].imm != fd)
			continue;
		if (BPF_CLASS(read->code) == BPF_LDX && BPF_MODE(read->code) == BPF_MEM && !landed[i + 2] &&
		    read_once(&insns[i], i + 3 == count))
			write_one(&c, &insns[i]);
	}
	free(landed);
}
