// SPDX-License-Identifier: GPL-2.0
/* Claims about programs without what they never come to: jumps, functions and notes of lines point where they did. */
#include <bpf/bpf.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/engine/dead_code.h"

enum { MAP = 7 };

static const struct {
	uint32_t zero, five;
	uint8_t on;
} values = { 0, 5, 1 };

#define ADDRESS(reg, offset)                                                                          \
	{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = reg, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = MAP }, \
	{ .imm = offset }
#define READ(size, to, from, at) { .code = BPF_LDX | BPF_MEM | size, .dst_reg = to, .src_reg = from, .off = at }
#define SET(reg, value) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = reg, .imm = value }
#define AND(reg, value) { .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = reg, .imm = value }
#define IF(op, reg, value, by) { .code = BPF_JMP | op | BPF_K, .dst_reg = reg, .off = by, .imm = value }
#define GO(by) { .code = BPF_JMP | BPF_JA, .off = by }
#define CALL(by) { .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = by }
#define HELPER { .code = BPF_JMP | BPF_CALL, .imm = 14 }
#define EXIT { .code = BPF_JMP | BPF_EXIT }
#define COUNT(insns) (sizeof(insns) / sizeof(*(insns)))

static struct bpf_prog_load_opts no_notes;

static const struct frozen_map map = { MAP, &values, sizeof(values) };

#define ASSERT_LEFT(insns, ...)                                                               \
	do {                                                                                  \
		const struct bpf_insn left[] = { __VA_ARGS__ };                               \
		assert_int_equal(dead_code_drop(insns, COUNT(insns), &map, &no_notes), COUNT(left)); \
		assert_memory_equal(insns, left, sizeof(left));                               \
	} while (0)

TEST(what_a_constant_excludes_is_gone)
{
	struct bpf_insn never[] = { ADDRESS(1, 0), READ(BPF_W, 1, 1, 0), IF(BPF_JNE, 1, 0, 2), SET(0, 1), EXIT, SET(0, 2),
				    EXIT };
	struct bpf_insn always[] = { ADDRESS(1, 0), READ(BPF_W, 1, 1, 4), IF(BPF_JEQ, 1, 5, 2), SET(0, 1), EXIT,
				     SET(0, 2), EXIT };
	struct bpf_insn masked[] = { SET(1, 6), AND(1, 1), IF(BPF_JEQ, 1, 0, 1), SET(0, 1), EXIT };

	ASSERT_LEFT(never, ADDRESS(1, 0), READ(BPF_W, 1, 1, 0), SET(0, 1), EXIT);
	ASSERT_LEFT(always, ADDRESS(1, 0), READ(BPF_W, 1, 1, 4), SET(0, 2), EXIT);
	ASSERT_LEFT(masked, SET(1, 6), AND(1, 1), EXIT);
}

/* What comes there by another way, from a helper or from memory may be something else. */
TEST(what_may_be_is_left)
{
	struct bpf_insn landed[] = { SET(1, 0), IF(BPF_JEQ, 6, 3, 1), SET(1, 1), IF(BPF_JEQ, 1, 0, 1), SET(0, 1), EXIT };
	struct bpf_insn called[] = { SET(0, 0), HELPER, IF(BPF_JEQ, 0, 0, 1), SET(0, 1), EXIT };
	struct bpf_insn read[] = { SET(1, 0), READ(BPF_W, 1, 10, -8), IF(BPF_JEQ, 1, 0, 1), SET(0, 1), EXIT };
	struct bpf_insn beyond[] = { ADDRESS(1, 8), READ(BPF_DW, 1, 1, 0), READ(BPF_B, 2, 1, 0), IF(BPF_JEQ, 2, 1, 1),
				     SET(0, 1), EXIT };
	struct bpf_insn kept[16];

	memcpy(kept, landed, sizeof(landed));
	assert_int_equal(dead_code_drop(landed, COUNT(landed), &map, &no_notes), COUNT(landed));
	assert_memory_equal(landed, kept, sizeof(landed));
	assert_int_equal(dead_code_drop(called, COUNT(called), &map, &no_notes), COUNT(called));
	assert_int_equal(dead_code_drop(read, COUNT(read), &map, &no_notes), COUNT(read));
	assert_int_equal(dead_code_drop(beyond, COUNT(beyond), &map, &no_notes), COUNT(beyond));
}

TEST(jumps_and_calls_over_what_is_gone_are_shorter)
{
	/* 0 to 6, and functions at 7, which nobody calls any more, and 9. */
	struct bpf_insn insns[] = { SET(6, 0), IF(BPF_JEQ, 6, 0, 1), CALL(4), IF(BPF_JGT, 1, 9, 2), GO(0), CALL(3),
				    EXIT, SET(0, 7), EXIT, SET(0, 9), GO(-2) };

	ASSERT_LEFT(insns, SET(6, 0), IF(BPF_JGT, 1, 9, 1), CALL(1), EXIT, SET(0, 9), GO(-2));
}

TEST(notes_follow_their_instructions)
{
	struct bpf_insn insns[] = { SET(6, 1), IF(BPF_JEQ, 6, 1, 2), CALL(4), SET(0, 3), CALL(4), EXIT, EXIT, SET(0, 7),
				    EXIT, SET(0, 9), EXIT };
	struct bpf_func_info functions[] = { { 0, 10 }, { 7, 17 }, { 9, 19 } };
	struct bpf_line_info lines[] = { { .insn_off = 0, .line_off = 1 }, { .insn_off = 2, .line_off = 2 },
					 { .insn_off = 4, .line_off = 4 }, { .insn_off = 7, .line_off = 7 },
					 { .insn_off = 9, .line_off = 9 } };
	struct bpf_prog_load_opts opts = { .func_info = functions, .func_info_cnt = COUNT(functions),
					   .func_info_rec_size = sizeof(*functions), .line_info = lines,
					   .line_info_cnt = COUNT(lines), .line_info_rec_size = sizeof(*lines) };

	assert_int_equal(dead_code_drop(insns, COUNT(insns), &map, &opts), 5);
	assert_int_equal(opts.func_info_cnt, 2);
	assert_int_equal(functions[1].insn_off, 3);
	assert_int_equal(functions[1].type_id, 19);
	assert_int_equal(opts.line_info_cnt, 3);
	assert_int_equal(lines[1].insn_off, 1);
	assert_int_equal(lines[1].line_off, 4);
	assert_int_equal(lines[2].insn_off, 3);
	assert_int_equal(lines[2].line_off, 9);
}
