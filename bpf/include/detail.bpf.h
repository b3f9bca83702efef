/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the window open, and is this socket ours: the gate, and what the detailed hooks count of a socket.
 *
 * Every map and global is weak, so that each question's object may include this header and the linker
 * keeps one of each. Sums are atomic adds: a plain += can lose a count where a probe is preempted by
 * another one on the same CPU, or runs on two.
 */
#ifndef COPYSCOPE_DETAIL_BPF_H
#define COPYSCOPE_DETAIL_BPF_H

#include "bpf/include/sites.h"
#include "bpf/include/census.bpf.h"

/* Set before load */
/* Inode numbers of its network namespaces. They are told after load, too: see engine_renew() in userspace/engine. */
volatile __u32 subject_homes[SUBJECT_PROCESSES] __weak = {};
volatile __u32 subject_home_count __weak = 0;

struct gauges gauges __weak = {};
struct seen seen[SEEN_CPUS] __attribute__((aligned(64))) __weak = {};

/* ubuf_info -> its owner. The only way to charge softirq work: skb->sk is NULL on lo and the
 * receiver's on veth from 6.18 on, and the current task is the one that was interrupted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, struct pin);
} pins SEC(".maps") __weak;

/* The verifier drops what is behind a gate that never opens: the programs are then empty. */
static __always_inline bool window_open(void)
{
	return fault_inject != FAULT_COUNT_NOTHING && window_is_open;
}

static __always_inline struct seen *this_cpu(void)
{
	return &seen[bpf_get_smp_processor_id() & (SEEN_CPUS - 1)];
}

static __always_inline void note_seen(enum seen_hook hook)
{
	if (fault_inject < FAULT_MISS_HITS)
		__sync_fetch_and_add(&this_cpu()->tp_hits[hook], 1);
}

static __always_inline bool task_is_ours(void)
{
	return is_member(bpf_get_current_pid_tgid() >> 32);
}

/* Does a process of the subject live in that network namespace? */
static __always_inline bool netns_is_ours(u32 inum)
{
	#pragma unroll
	for (u32 i = 0; i < SUBJECT_PROCESSES; i++)
		if (i < subject_home_count && inum == subject_homes[i])
			return true;
	return false;
}

static __always_inline void add(unsigned long long *sum, u64 n)
{
	__sync_fetch_and_add(sum, n);
}

/* Notes @value for the running task. Most calls find their entry, and writing in place costs a
 * third of an update. */
static __always_inline void task_note(void *map, u64 value)
{
	u64 task = bpf_get_current_pid_tgid();
	u64 *noted = bpf_map_lookup_elem(map, &task);

	if (noted)
		*noted = value;
	else if (bpf_map_update_elem(map, &task, &value, BPF_ANY))
		note_lost_update();
}

static __always_inline u64 *task_noted(void *map)
{
	u64 task = bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(map, &task);
}

/* 1 + the place of its slot, by which tables beside the slots are looked up; 0: no book. */
static __always_inline u32 book_number(u64 cookie)
{
	u32 place;

	return way_find(cookie, &place) ? place + 1 : 0;
}

static __always_inline struct books *book_numbered(u32 number)
{
	u32 place = number - 1;

	return number ? bpf_map_lookup_elem(&details, &place) : NULL;
}

/* Causes are kept for sockets of the subject alone. */
static __always_inline bool number_is_ours(u32 number)
{
	u32 place = number - 1;
	const struct watch_slot *slot = number ? bpf_map_lookup_elem(&slots, &place) : NULL;

	return slot && slot->ours;
}

static __always_inline struct books *books_find(u64 cookie)
{
	return book_numbered(book_number(cookie));
}

static __always_inline void count(struct books *b, enum count what, u64 n)
{
	if (b)
		add(&b->count[what], n);
}

static __always_inline void site_change(struct books *b, enum site site, u64 bytes, u64 calls)
{
	if (!b)
		return;
	/* The eighth call. */
	if (fault_inject == FAULT_LOSE_UPDATE && b->site[site].calls <= 7 &&
	    b->site[site].calls + calls > 7) {
		add(&b->site[site].calls, calls);
		return;
	}
	add(&b->site[site].bytes, bytes);
	add(&b->site[site].calls, calls);
}

static __always_inline void site_add(struct books *b, enum site site, u64 bytes)
{
	site_change(b, site, bytes, 1);
}

#endif
