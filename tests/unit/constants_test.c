// SPDX-License-Identifier: GPL-2.0
/* Claims about constants in programs: a read of one becomes its value, and what may be something else stays a read. */
#include <linux/bpf.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/engine/constants.h"

enum { MAP = 7, OTHER = 8 };

static const struct {
	uint32_t small, large;
	uint64_t wide;
	uint8_t flag;
} values = { 5, 0xfffffffe, 1ull << 40, 1 };

#define ADDRESS(reg, map, offset)                                                                     \
	{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = reg, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map }, \
	{ .imm = offset }
#define READ(size, to, from, at) { .code = BPF_LDX | BPF_MEM | size, .dst_reg = to, .src_reg = from, .off = at }
#define MOVE(to, from) { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to, .src_reg = from }
#define SKIP(reg, by) { .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = reg, .off = by }
#define EXIT { .code = BPF_JMP | BPF_EXIT }
#define COUNT(insns) (sizeof(insns) / sizeof(*(insns)))

static void write_values(struct bpf_insn *insns, size_t count)
{
	constants_write(insns, count, MAP, &values, sizeof(values));
}

/* In place of the address and the read. */
static void assert_written(const struct bpf_insn *insns, uint8_t reg, uint64_t value)
{
	const struct bpf_insn expected[] = { { .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = reg, .imm = (int32_t)value },
					     { .imm = (int32_t)(value >> 32) },
					     { .code = BPF_JMP | BPF_JA } };

	assert_memory_equal(insns, expected, sizeof(expected));
}

/* Nothing is to change. */
static void assert_stays(const struct bpf_insn *insns, size_t count)
{
	struct bpf_insn written[16];

	memcpy(written, insns, count * sizeof(*insns));
	write_values(written, count);
	assert_memory_equal(written, insns, count * sizeof(*insns));
}

TEST(reads_become_values)
{
	struct bpf_insn insns[] = { ADDRESS(1, MAP, 0), READ(BPF_W, 1, 1, 0), ADDRESS(2, MAP, 0), READ(BPF_W, 2, 2, 4),
				    ADDRESS(3, MAP, 16), READ(BPF_B, 3, 3, 0), ADDRESS(4, MAP, 8), READ(BPF_DW, 4, 4, 0),
				    EXIT };

	write_values(insns, COUNT(insns));
	assert_written(&insns[0], 1, values.small);
	assert_written(&insns[3], 2, values.large);
	assert_written(&insns[6], 3, values.flag);
	assert_written(&insns[9], 4, values.wide);
}

TEST(an_address_goes_that_the_next_instruction_overwrites)
{
	struct bpf_insn insns[] = { ADDRESS(1, MAP, 0), READ(BPF_W, 2, 1, 0), MOVE(1, 3), EXIT };

	write_values(insns, COUNT(insns));
	assert_written(insns, 2, values.small);
}

TEST(an_address_that_may_be_used_again_stays)
{
	const struct bpf_insn insns[] = { ADDRESS(1, MAP, 0), READ(BPF_W, 2, 1, 0), MOVE(3, 1), EXIT };

	assert_stays(insns, COUNT(insns));
}

TEST(reads_of_another_map_stay)
{
	const struct bpf_insn insns[] = { ADDRESS(1, OTHER, 0), READ(BPF_W, 1, 1, 0), EXIT };

	assert_stays(insns, COUNT(insns));
}

TEST(what_is_jumped_to_stays)
{
	const struct bpf_insn insns[] = { SKIP(1, 2), ADDRESS(1, MAP, 0), READ(BPF_W, 1, 1, 0), EXIT };

	assert_stays(insns, COUNT(insns));
}

TEST(what_is_not_in_the_map_stays)
{
	const struct bpf_insn behind[] = { ADDRESS(1, MAP, sizeof(values)), READ(BPF_B, 1, 1, 0), EXIT };
	const struct bpf_insn across[] = { ADDRESS(1, MAP, 0), READ(BPF_W, 1, 1, sizeof(values) - 2), EXIT };

	assert_stays(behind, COUNT(behind));
	assert_stays(across, COUNT(across));
}
