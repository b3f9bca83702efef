/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Charges copied bytes to the stack that asked for the copy.
 *
 * The stack itself is the key, not its number in a BPF_MAP_TYPE_STACK_TRACE: if two stacks fall
 * into one bucket of such a map, one of them loses its frames.
 *
 * A walk costs more than all else that is done for a copy, so it is done once for a caller that
 * decides the cause by itself. From then on two return addresses are enough, and the trampoline
 * keeps these where they can be read.
 */
#ifndef COPYSCOPE_CAUSE_BPF_H
#define COPYSCOPE_CAUSE_BPF_H

#include "bpf/include/detail.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, struct copied_from);
	__type(value, struct tally);
} causes SEC(".maps") __weak;

/* Callers that were found to decide the cause, and what they had copied since. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, struct copy_call);
	__type(value, struct tally);
} known_calls SEC(".maps") __weak;

/* Filled in before the programs are attached: a bit for each site that a function decides. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COPY_CALLERS_MAX);
	__type(key, struct function_name);
	__type(value, u32);
} copy_callers SEC(".maps") __weak;

/* 1 if @c is 0, else 0, for less than 2^31. */
static __always_inline u32 is_zero(u32 c)
{
	return (c - 1) >> 31;
}

/* What the function that holds @address decides; the compiler's suffix is cut off its name. The loop
 * has no branch: the verifier would follow both ways of each for each letter. */
VERIFIED_ONCE u32 decided_by(u64 address)
{
	struct function_name name = {};
	u32 ended = 0, *decided;

	if (BPF_SNPRINTF(name.text, sizeof(name.text), "%ps", address) < 0)
		return 0;
	for (int i = 0; i < SYMBOL_BYTES; i++) {
		u32 c = (u8)name.text[i];

		ended |= is_zero(c ^ '.') | is_zero(c ^ ' ') | is_zero(c);
		barrier_var(ended);
		name.text[i] = c & (ended - 1);
	}
	decided = bpf_map_lookup_elem(&copy_callers, &name);
	return decided ? *decided : 0;
}

/*
 * Reads who asked for the copy out of the trampoline's frame. On x86 the arguments are followed by
 * the result, the saved rbp and the return addresses into the function that copies and into its
 * caller (arch_prepare_bpf_trampoline). @arguments: how many the function has.
 */
static __always_inline bool asked_by(void *ctx, u32 arguments, struct copy_call *call)
{
#ifdef __TARGET_ARCH_x86
	u64 addresses[2];

	if (bpf_probe_read_kernel(addresses, sizeof(addresses), ctx + (arguments + 2) * 8))
		return false;
	call->copier = addresses[0];
	call->caller = addresses[1];
	return true;
#else
	return false;
#endif
}

/* Stores a call whose cause is decided, if the unwinder found the same addresses. A kernel that jumps
 * to the trampoline leaves no address of the copying function: then the first is the caller's. */
VERIFIED_ONCE int call_learn(const struct copy_call *learnt, const struct copied_from *from)
{
	static const struct tally empty;
	bool found = false, both = false;
	struct copy_call call;	/* 6.1 takes no key from a caller's frame */

	if (!learnt || !from)
		return 0;
	call = *learnt;
	for (int i = 0; i < 4; i++) {
		found |= from->frames[i] == call.copier;
		both |= from->frames[i] == call.copier && from->frames[i + 1] == call.caller;
	}
	if (!found)
		return 0;
	if (decided_by(call.copier) & CALLER_DECIDES) {
		if (!both || !(decided_by(call.caller) >> call.site & 1))
			return 0;
	} else {
		if (!(decided_by(call.copier) >> call.site & 1))
			return 0;
		call.caller = 0;
	}
	return bpf_map_update_elem(&known_calls, &call, &empty, BPF_NOEXIST);
}

static __always_inline struct tally *tally_of_call(struct copy_call *call)
{
	struct tally *t = bpf_map_lookup_elem(&known_calls, call);
	struct copy_call jumped = *call;

	jumped.caller = 0;
	return t ? t : bpf_map_lookup_elem(&known_calls, &jumped);
}

static __always_inline struct tally *tally_of_stack(const struct copied_from *from)
{
	static const struct tally empty;
	struct tally *t = bpf_map_lookup_elem(&causes, from);

	if (t)
		return t;
	bpf_map_update_elem(&causes, from, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&causes, from);
}

/* @ctx is the exit program's of a function with @arguments: its caller's frames are those of the
 * function that copied. @arguments is 0 where no exit program is attached: its
 * trampoline has no place for a result. */
static __always_inline void charge_cause(void *ctx, u32 arguments, enum site site, u32 circumstances,
					 u64 bytes, u64 calls)
{
	struct copied_from from = { .site = site, .circumstances = circumstances };
	struct copy_call call = { .site = site, .circumstances = circumstances };
	bool asked = arguments && asked_by(ctx, arguments, &call);
	struct tally *t = asked ? tally_of_call(&call) : NULL;

	if (!t) {
		/* After an error there are no frames, and the report shows the bytes under an
		 * unknown cause. */
		bpf_get_stack(ctx, from.frames, sizeof(from.frames), 0);
		t = tally_of_stack(&from);
		if (asked)
			call_learn(&call, &from);
	}
	if (!t) {
		note_lost_update();
		return;
	}
	add(&t->bytes, bytes);
	add(&t->calls, calls);
}

#endif
