/* SPDX-License-Identifier: GPL-2.0 */
/* How large each call of a process was: histograms by way, in powers of two. */
#ifndef COPYSCOPE_SIZES_BPF_H
#define COPYSCOPE_SIZES_BPF_H

#include "bpf/include/census.bpf.h"

/* The window is open, and it is known whose each socket is that was there before. */
volatile __u32 sizes_open __weak = 0;

/* The first is that of all processes which find no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_sizes);
} sizes SEC(".maps") __weak;

/* A process, whose number another one may have had. */
struct sized_process {
	u64 tgid;
	u64 started_ns;
};

/* -> its place there */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SIZES_PROCESSES);
	__type(key, struct sized_process);
	__type(value, u32);
} sizes_of SEC(".maps") __weak;

/* Which call of a socket takes the place, if two come at once, matters to nobody: both have one. */
static __always_inline u32 sizes_place(void)
{
	struct watch_task task = {};
	struct sized_process process;
	struct call_sizes *of;
	u32 place, *known;

	task_describe_current(&task);
	process.tgid = task.tgid;
	process.started_ns = task.started_ns;
	known = bpf_map_lookup_elem(&sizes_of, &process);
	if (known)
		return *known;
	/* Of a kernel's own task nobody could tell the calls from those of another one. */
	if (task.kernel || watch_gauges.sized_processes >= SIZES_PROCESSES)
		place = 0;
	else
		place = __sync_fetch_and_add(&watch_gauges.sized_processes, 1) + 1;
	of = place ? bpf_map_lookup_elem(&sizes, &place) : NULL;
	if (!of)
		return 0;
	of->task = task;
	if (!bpf_map_update_elem(&sizes_of, &process, &place, BPF_NOEXIST))
		return place;
	known = bpf_map_lookup_elem(&sizes_of, &process);
	return known ? *known : 0;
}

/* The process that calls is not the one that called before. */
static __always_inline bool caller_changes(struct watch_slot *slot, u32 tgid)
{
	if (!sizes_open || !(slot->ours || (watch_filter == WATCH_OF_TASKS && is_member(tgid))))
		return false;
	/* Whose it is in the end, the next walk over descriptors tells. */
	if (!slot->ours)
		gauge_add(&watch_gauges.size_strays, 1);
	slot->sizes_at = sizes_place() + 1;
	slot->caller = tgid;
	return true;
}

/* Has the process that calls a place for what it does with this socket? */
static __always_inline bool caller_is_known(struct watch_slot *slot)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return slot->caller == tgid || caller_changes(slot, tgid);
}

/* How many bits it takes to write it. */
static __always_inline u32 bits_of(u32 bytes)
{
	u32 bits = 0;

	#pragma unroll
	for (u32 half = 16; half; half /= 2)
		if (bytes >> half) {
			bits += half;
			bytes >>= half;
		}
	return bits + bytes;
}

/* A call by this way has returned: an error has no size. */
static __always_inline void call_sized(struct watch_slot *slot, u32 way, int ret)
{
	struct size_bucket *bucket;
	struct call_sizes *of;
	u32 at;

	if (!sizes_wanted || ret < 0 || !window_is_open)
		return;
	if (!caller_is_known(slot)) {
		__sync_fetch_and_add(&slot->unsized_calls, 1);
		return;
	}
	at = slot->sizes_at - 1;
	of = bpf_map_lookup_elem(&sizes, &at);
	if (!of || way >= CALL_WAY_COUNT || (ret && is_lost(FAULT_LOSE_SIZE)))
		return;
	bucket = &of->bucket[way][bits_of(ret) & (SIZE_BUCKETS - 1)];
	__sync_fetch_and_add(&bucket->calls, 1);
	__sync_fetch_and_add(&bucket->bytes, ret);
}

#endif
