/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Charges copied bytes to the stack that asked for the copy.
 *
 * The stack itself is the key, not its number in a BPF_MAP_TYPE_STACK_TRACE: if two stacks fall
 * into one bucket of such a map, one of them loses its frames.
 */
#ifndef COPYSCOPE_CAUSE_BPF_H
#define COPYSCOPE_CAUSE_BPF_H

#include "bpf/include/gate.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, struct copied_from);
	__type(value, struct tally);
} causes SEC(".maps") __weak;

/* @ctx is the program's: its caller's frames are those of the function that copied. */
static __always_inline void charge_cause(void *ctx, enum site site, u32 circumstances, u64 bytes)
{
	static const struct tally empty;
	struct copied_from from = { .site = site, .circumstances = circumstances };
	struct tally *t;

	/* After an error there are no frames, and the report shows the bytes under an unknown
	 * cause. */
	bpf_get_stack(ctx, from.frames, sizeof(from.frames), 0);
	t = bpf_map_lookup_elem(&causes, &from);
	if (!t) {
		bpf_map_update_elem(&causes, &from, &empty, BPF_NOEXIST);
		t = bpf_map_lookup_elem(&causes, &from);
	}
	if (!t) {
		note_lost_update();
		return;
	}
	add(&t->bytes, bytes);
	add(&t->calls, 1);
}

#endif
