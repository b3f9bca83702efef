/* SPDX-License-Identifier: GPL-2.0 */
/* What an instruction of a program is. */
#ifndef COPYSCOPE_INSTRUCTIONS_H
#define COPYSCOPE_INSTRUCTIONS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* It has the place of two. */
#define WIDE_LOAD (BPF_LD | BPF_IMM | BPF_DW)

static inline bool insn_jumps(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

/* Always. */
static inline bool insn_goes(const struct bpf_insn *insn)
{
	return insn_jumps(insn) && BPF_OP(insn->code) == BPF_JA;
}

/* Calls a function of the program, or takes its address. */
static inline bool insn_names_function(const struct bpf_insn *insn)
{
	return (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL) ||
	       (insn->code == WIDE_LOAD && insn->src_reg == BPF_PSEUDO_FUNC);
}

/* How far from the next one lies what it jumps to, or names. */
static inline int64_t insn_distance(const struct bpf_insn *insn)
{
	return insn_names_function(insn) || insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off;
}

/* Of what a load reads. */
static inline size_t insn_bytes(const struct bpf_insn *insn)
{
	static const size_t bytes[] = { [BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8 };

	return bytes[BPF_SIZE(insn->code) >> 3];
}

/* As a load of so many bytes reads it. */
static inline uint64_t value_at(const void *at, size_t bytes)
{
	uint64_t wide = 0;
	uint32_t word;
	uint16_t half;

	switch (bytes) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return memcpy(&half, at, sizeof(half)), half;
	case 4:
		return memcpy(&word, at, sizeof(word)), word;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

#endif
