/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is the window open, and is this one ours: the gate, the books and who owns a packet.
 *
 * Every map and global is weak, so that each question's object may include this header and
 * the linker keeps one of each. Sums are atomic adds on per-CPU values: a plain += can lose a
 * count where a probe is preempted by another one on the same CPU.
 */
#ifndef COPYSCOPE_GATE_BPF_H
#define COPYSCOPE_GATE_BPF_H

#include "vmlinux/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf/include/compat.bpf.h"
#include "bpf/include/sites.h"
#include "bpf/include/skb.bpf.h"

/* Set before load */
const volatile __u32 subject_tgid[SUBJECT_PROCESSES] __weak = {};
const volatile __u32 subject_processes __weak = 0;
const volatile __u32 subject_forks __weak = 0; /* children of these processes are watched, too */
const volatile __u32 subject_netns[SUBJECT_PROCESSES] __weak = {}; /* inode numbers */
const volatile __u32 subject_namespaces __weak = 0;
const volatile __u32 fault_inject __weak = FAULT_NONE;

/* One store opens the window after every probe is attached, one closes it. */
volatile __u32 gate_open __weak = 0;
struct gauges gauges __weak = {};
struct seen seen[SEEN_CPUS] __attribute__((aligned(64))) __weak = {};

/* number of a book -> the book. Arrays are looked up without a call, hash tables with 80
 * instructions. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, struct books);
} books SEC(".maps") __weak;

/* cookie -> number of its book. An entry exists if and only if the socket belongs to this run. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, u64);
	__type(value, u32);
} book_numbers SEC(".maps") __weak;

/* number -> cookie: who adds the entry owns the number (no add returns a value: compat.bpf.h) */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u64);
} book_owners SEC(".maps") __weak;

/* Numbers that were looked up last, by a part of the cookie's hash: cookie << 16 | number, in one word,
 * so that no reader sees half of an update. */
#define BOOK_SLOTS_LOG2 12
volatile unsigned long long book_slots[1 << BOOK_SLOTS_LOG2] __weak = {};
/* About how many are taken: the next number to try. */
volatile __u32 books_begun __weak = 0;

/* flow as it arrives -> cookie of the socket that receives it */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct flow);
	__type(value, u64);
} flows SEC(".maps") __weak;

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
	return fault_inject != FAULT_COUNT_NOTHING && gate_open;
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

/* The verifier knows what is set before load: it drops the rows that are not in use. */
static __always_inline bool is_listed(u32 value, const volatile __u32 *list, u32 count)
{
	#pragma unroll
	for (u32 i = 0; i < SUBJECT_PROCESSES; i++)
		if (i < count && value == list[i])
			return true;
	return false;
}

static __always_inline bool task_is_ours(void)
{
	const struct task_struct *task;

	if (is_listed(bpf_get_current_pid_tgid() >> 32, subject_tgid, subject_processes))
		return true;
	if (!subject_forks)
		return false;
	task = (const void *)bpf_get_current_task();
	return is_listed(BPF_CORE_READ(task, real_parent, tgid), subject_tgid, subject_processes);
}

/* Does a process of the subject live in that network namespace? */
static __always_inline bool netns_is_ours(u32 inum)
{
	return is_listed(inum, subject_netns, subject_namespaces);
}

static __always_inline void note_lost_update(void)
{
	__sync_fetch_and_add(&gauges.lost_updates, 1);
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

/* 0: no book. */
static __always_inline u32 book_number(u64 cookie)
{
	volatile unsigned long long *slot = &book_slots[cookie * 0x9e3779b97f4a7c15 >> (64 - BOOK_SLOTS_LOG2)];
	u64 entry = *slot;
	u32 *number;

	/* An empty slot is that of no cookie and no book. */
	if (entry >> 16 == cookie)
		return (u16)entry;
	number = bpf_map_lookup_elem(&book_numbers, &cookie);
	if (!number)
		return 0;
	*slot = cookie << 16 | *number;
	return *number;
}

static __always_inline struct books *book_numbered(u32 number)
{
	return number ? bpf_map_lookup_elem(&books, &number) : NULL;
}

static __always_inline struct books *books_find(u64 cookie)
{
	return book_numbered(book_number(cookie));
}

static __always_inline void flow_of_sock(const struct sock *sk, struct flow *flow)
{
	if (sk->__sk_common.skc_family == AF_INET6_FAMILY) {
		BPF_CORE_READ_INTO(&flow->saddr, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&flow->daddr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32);
	} else {
		flow->saddr[2] = flow->daddr[2] = bpf_htonl(0xffff);
		flow->saddr[3] = sk->__sk_common.skc_daddr;
		flow->daddr[3] = sk->__sk_common.skc_rcv_saddr;
	}
	flow->sport = sk->__sk_common.skc_dport;
	flow->dport = bpf_htons(sk->__sk_common.skc_num);
}

/* Takes a number that no other processor has taken. */
static __always_inline u32 book_number_take(u64 cookie)
{
	for (int tries = 0; tries < 64; tries++) {
		u32 number = books_begun + 1;

		__sync_fetch_and_add(&books_begun, 1);
		if (!bpf_map_update_elem(&book_owners, &number, &cookie, BPF_NOEXIST))
			return number;
	}
	return 0;
}

static __always_inline struct books *books_create(u64 cookie)
{
	struct books *found = books_find(cookie);
	u32 number;

	if (found || !cookie)
		return found;
	number = book_number_take(cookie);
	/* Another processor may have begun the same book: then this number stays unused. */
	if (number)
		bpf_map_update_elem(&book_numbers, &cookie, &number, BPF_NOEXIST);
	found = books_find(cookie);
	if (!found)
		note_lost_update();
	return found;
}

/* Begins the book of a socket that one of our tasks uses; @cookie as the kernel made it. Without a
 * cookie the socket's bytes are lost, and the run must fail. */
static __always_inline struct books *books_open(const struct sock *sk, u64 cookie)
{
	struct books *found = books_create(cookie);
	struct flow flow = {};

	if (!cookie)
		note_lost_update();
	if (!found || found->flow_known)
		return found;
	flow_of_sock(sk, &flow);
	if (bpf_map_update_elem(&flows, &flow, &cookie, BPF_ANY))
		note_lost_update();
	found->flow_known = 1;
	return found;
}

/* Has the socket a book? Begins it if one of our tasks uses the socket. Most calls find the book. */
static __always_inline bool book_is_open(struct sock *sk)
{
	if (book_number(cookie_of(sk)))
		return true;
	return task_is_ours() && books_open(sk, cookie_made(sk));
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

/* The socket that a notification belongs to. */
static __always_inline u64 cookie_of_uarg(u64 uarg)
{
	struct pin *pin = bpf_map_lookup_elem(&pins, &uarg);

	return pin ? pin->cookie : cookie_of_holder(uarg);
}

/* The sender's book if the frags of this skb are user pages of this run, else NULL. */
static __always_inline struct books *books_of_pages(const struct sk_buff *skb)
{
	u64 uarg = uarg_of(skb);

	return uarg ? books_find(cookie_of_uarg(uarg)) : NULL;
}

#endif
