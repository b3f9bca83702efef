/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose is a socket: of the task that used it last.
 *
 * A task holds the lock of a socket (sk_lock.owned) while it connects, listens, shuts down or closes
 * it, and while it works off packets that came since it took the lock. A softirq never runs with the
 * lock owned: it leaves its packets to the owner. So where the lock is owned, the current task is a
 * user of the socket; elsewhere it is anybody. But a watch, this one or another, holds locks and files
 * while it walks: it works off packets, and it closes a file that its owner closed while it looked.
 * Threads, io_uring's workers and its polling threads have the number of their process.
 */
#ifndef COPYSCOPE_WHO_BPF_H
#define COPYSCOPE_WHO_BPF_H

#include "bpf/include/book.bpf.h"

#define PF_KTHREAD_FLAG 0x00200000 /* include/linux/sched.h */

enum { WATCH_NETNS_LIST = 512 };

/* Set before load. */
const volatile struct subject_names subject_named __weak = {};
const volatile struct subject_names subject_left_out __weak = {};
const volatile bool subject_childless __weak = false;	/* what a member forks is none, unless its names say so */
const volatile bool others_join __weak = false;	/* who fits the names becomes a member, whoever forked it */
const volatile bool cgroup_decides __weak = false;	/* who lies in a named cgroup is of the subject, and nothing else matters */
/* Where the filter is not tasks: the members are those whose sockets are left out. */
const volatile bool members_are_left_out __weak = false;

/* Numbers of the network namespaces that user space entered. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WATCH_NETNS_LIST);
	__type(key, u32);
	__type(value, u8);
} subject_netns SEC(".maps") __weak;

/* tgid -> a process of the subject */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct watch_member);
} members SEC(".maps") __weak;

/* A bit for each member, at its number modulo their count. They stay when it ends: another one may have the same. */
enum { MEMBER_BITS = 4096 };
__u64 member_bits[MEMBER_BITS / 64] __weak = {};

/* The owner of a socket that listens, for the ones that it accepts: the kernel clones it. A process may have
 * forked others and be gone. */
struct heir {
	struct watch_task task;
	u64 ours;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct heir);
} heirs SEC(".maps") __weak;

/* cookie of a socket -> the process that had it when it became part of the subject. Calls that move bytes tell no owner,
 * and who else holds the socket may be the one who closes it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct watch_task);
} brought SEC(".maps") __weak;

#define IPPROTO_MPTCP_NUMBER 262

/* MPTCP socket -> who holds its descriptor: those of TCP below it have none */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct watch_task);
} mptcp_holders SEC(".maps") __weak;

VERIFIED_ONCE int task_read(struct watch_task *task, u64 address)
{
	const struct task_struct *t = (const void *)address, *leader = BPF_CORE_READ(t, group_leader);

	if (!task)
		return 0;
	task->tgid = BPF_CORE_READ(t, tgid);
	task->kernel = !!(BPF_CORE_READ(t, flags) & PF_KTHREAD_FLAG);
	task->started_ns = BPF_CORE_READ(leader, start_boottime);
	task->cgroup = BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, id);
	task->uid = BPF_CORE_READ(t, cred, uid.val);
	bpf_probe_read_kernel_str(task->comm, sizeof(task->comm), &leader->comm);
	return 0;
}

static __always_inline void task_describe(struct watch_task *task, const struct task_struct *t)
{
	task_read(task, address_of(t));
}

/* All of it: the kernel fills what is behind a name with zeros (__set_task_comm() in fs/exec.c). */
union comm {
	char name[WATCH_TASK_COMM];
	u64 words[WATCH_TASK_COMM / sizeof(u64)];
};

static __always_inline union comm comm_of(const struct task_struct *t)
{
	const u64 *words = (const void *)&t->comm;

	return (union comm){ .words = { words[0], words[1] } };
}

/* The same of the current task, by plain loads: the verifier knows it. */
VERIFIED_ONCE int task_describe_current(struct watch_task *task)
{
	const struct task_struct *t = bpf_get_current_task_btf(), *leader = POINTER_IN(task_struct, t, group_leader);
	union comm comm = comm_of(leader);

	if (!task)
		return 0;
	task->tgid = t->tgid;
	task->kernel = !!(t->flags & PF_KTHREAD_FLAG);
	task->started_ns = leader->start_boottime;
	task->cgroup = bpf_get_current_cgroup_id();
	task->uid = bpf_get_current_uid_gid();
	__builtin_memcpy(task->comm, comm.name, sizeof(task->comm));
	return 0;
}

/* Most tasks that ask are none: their bit tells it without a search. */
static __always_inline bool is_member(u32 tgid)
{
	if (!(member_bits[tgid % MEMBER_BITS / 64] >> tgid % 64 & 1))
		return false;
	return bpf_map_lookup_elem(&members, &tgid) != NULL;
}

static __always_inline bool same_task(const struct watch_task *a, const struct watch_task *b)
{
	return a->tgid == b->tgid && a->started_ns == b->started_ns;
}

static __always_inline void heir_note(struct sock *sk, const struct watch_task *task, bool ours)
{
	struct heir *heir = bpf_sk_storage_get(&heirs, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	/* No memory for it is no memory for books of what the socket accepts: these are counted as lacking. */
	if (!heir)
		return;
	heir->task = *task;
	heir->ours = ours;
}

/* The process has ended; it is counted once, whoever notices. The last one ends the watch. */
static __always_inline void member_end(struct watch_member *member)
{
	if (__sync_val_compare_and_swap(&member->ended_ns, 0, bpf_ktime_get_boot_ns()))
		return;
	gauge_add(&watch_gauges.left, 1);
	if (watch_gauges.left == watch_gauges.chosen + watch_gauges.joined)
		user_space_wake();
}

/* No process has this number any more: user space keeps what is to be known of it. Its sockets may live on;
 * their books name their owner. */
static __always_inline void member_forget(u32 tgid)
{
	struct watch_member *member = bpf_map_lookup_elem(&members, &tgid), gone;

	if (!member)
		return;
	member_end(member);
	gone = *member;
	/* Where there is no room it stays. */
	if (!end_tell(&gone, sizeof(gone)))
		bpf_map_delete_elem(&members, &tgid);
}

/* @t may have ended before it was added; then nothing else would tell. */
static __always_inline void member_add(const struct watch_task *task, const struct task_struct *t)
{
	struct watch_member member = { .task = *task, .joined = 1 }, *added;
	/* On 6.1 a key may not lie in what a function that is verified by itself was passed. */
	u32 tgid = task->tgid;

	__sync_fetch_and_or(&member_bits[tgid % MEMBER_BITS / 64], 1ull << tgid % 64);
	if (bpf_map_update_elem(&members, &tgid, &member, BPF_ANY)) {
		gauge_add(&watch_gauges.lost_members, 1);
		return;
	}
	gauge_add(&watch_gauges.joined, 1);
	added = bpf_map_lookup_elem(&members, &tgid);
	if (added && !BPF_CORE_READ(t, signal, live.counter))
		member_end(added);
}

VERIFIED_ONCE bool current_is_below(u32 count)
{
	for (u32 i = 0; i < SUBJECT_CGROUPS && i < count; i++)
		if (bpf_get_current_ancestor_cgroup_id(subject_named.cgroup_levels[i]) == subject_named.cgroups[i])
			return true;
	return false;
}

/* Processes may enter a cgroup at any time, without a fork. */
static __always_inline bool current_is_in_cgroup(void)
{
	return cgroup_decides && current_is_below(subject_named.cgroup_count);
}

VERIFIED_ONCE bool current_is_member(const struct watch_task *task)
{
	if (!task)
		return false;
	if (is_member(task->tgid))
		return true;
	if (!current_is_in_cgroup())
		return false;
	member_add(task, (const void *)bpf_get_current_task());
	return true;
}

/* Also one that entered the cgroup and was not asked since. */
static __always_inline bool current_is_ours(void)
{
	return is_member(bpf_get_current_pid_tgid() >> 32) || current_is_in_cgroup();
}

/* The same, and it is a member from here on. */
static __always_inline bool current_becomes_ours(void)
{
	struct watch_task task = {};

	if (is_member(bpf_get_current_pid_tgid() >> 32))
		return true;
	if (!current_is_in_cgroup())
		return false;
	task_describe_current(&task);
	return current_is_member(&task);
}

/* One of the two is named. */
static __always_inline bool port_is_of(const volatile struct subject_names *names, u16 local, u16 remote)
{
	for (u32 i = 0; i < SUBJECT_PORTS && i < names->port_count; i++) {
		u16 from = names->ports[i].from, to = names->ports[i].to;

		if ((local >= from && local <= to) || (remote >= from && remote <= to))
			return true;
	}
	return false;
}

static __always_inline bool ports_are_ours(u16 local, u16 remote)
{
	return (!subject_named.port_count || port_is_of(&subject_named, local, remote)) &&
	       !(subject_left_out.port_count && port_is_of(&subject_left_out, local, remote));
}

/* Does it take a port to be of the subject? */
static __always_inline bool ports_decide(void)
{
	return subject_named.port_count || subject_left_out.port_count;
}

static __always_inline bool port_is_ours(const struct watch_book *book)
{
	return ports_are_ours(book->local_port, book->remote_port);
}

static __always_inline bool inum_is_ours(u32 inum)
{
	return bpf_map_lookup_elem(&subject_netns, &inum) != NULL;
}

/* Is it to be reported? */
static __always_inline bool book_is_ours(const struct watch_book *book)
{
	if (ports_decide() && !port_is_ours(book))
		return false;
	if (watch_filter == WATCH_OF_TASKS)
		return book->flags & WATCH_OURS;
	if (members_are_left_out && book->flags & WATCH_OURS)
		return false;
	return watch_filter != WATCH_OF_NETNS || inum_is_ours(book->netns);
}

/* What a socket of the subject had when the window opened: it may need hooks of packets. */
static __always_inline void pages_opened(const struct watch_book *book, bool ours)
{
	const struct watch_reading *r = &book->opened;

	if (watch_mode == WATCH_MODE_OPEN && opened_by_walk && (ours || book_is_ours(book)) &&
	    (r->asks_zerocopy || r->zerocopy_sends || r->referenced_bytes || r->spliced_bytes))
		hooks_want(&watch_gauges.zerocopy_seen);
}

/* Does what this process does count, whatever socket it does it with? */
static __always_inline bool process_counts(u32 tgid)
{
	return watch_filter == WATCH_OF_TASKS ? is_member(tgid) : !(members_are_left_out && is_member(tgid));
}

/* Causes of copies and sizes of calls are kept for sockets of the subject alone, and packets watched. */
static __always_inline void ours_note(const struct watch_book *book)
{
	bool asked_for = details_wanted || sizes_wanted || !packets_watched || fault_inject == FAULT_SKIP_ARRIVAL;
	struct watch_slot *slot = asked_for ? slot_of(book) : NULL;

	if (slot)
		slot->ours = book_is_ours(book);
}

/* A task is known to use the socket; @ours: it belongs to the subject. Sockets of the subject stay
 * its own, and say that another one used them. Kernel threads close what a task left behind. */
VERIFIED_ONCE int owner_note(struct watch_book *book, const struct watch_task *task, bool ours)
{
	bool known;

	if (!book || !task)
		return 0;
	known = book->owner.tgid && !(book->flags & WATCH_GUESSED);
	if (known && same_task(&book->owner, task)) {
		/* It may have joined the subject since. */
		if (ours)
			book->flags |= WATCH_OURS;
		return 0;
	}
	if (task->kernel && book->owner.tgid)
		return 0;
	if (known)
		book->flags |= WATCH_HANDED_ON;
	if (known && book->flags & WATCH_OURS && !ours)
		return 0;
	book->owner = *task;
	book->flags &= ~(WATCH_GUESSED | WATCH_OURS);
	if (ours)
		book->flags |= WATCH_OURS;
	return 0;
}

static __always_inline void mptcp_holder_is(u64 key, const struct watch_task *task)
{
	if (bpf_map_update_elem(&mptcp_holders, &key, task, BPF_ANY))
		note_lost_update();
}

/* Something is there of a descriptor that a walk met. */
volatile __u32 mptcp_held __weak = 0;

static __always_inline void mptcp_note(const struct sock *sk, const struct task_struct *t)
{
	struct watch_task task = {};
	u64 key = (u64)sk;

	task_describe(&task, t);
	mptcp_holder_is(key, &task);
	mptcp_held = 1;
}

struct mptcp_subflow_context___conn {
	struct sock *conn;
} OF_KERNEL;

/* The MPTCP socket above this one of TCP's; 0: not known. */
static __always_inline u64 mptcp_above(const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk = (const void *)tp;
	const struct mptcp_subflow_context___conn *subflow = icsk->icsk_ulp_data;

	return bpf_core_field_exists(subflow->conn) ? (u64)BPF_CORE_READ(subflow, conn) : 0;
}

/* Who holds that. */
static __always_inline struct watch_task *mptcp_holder(const struct tcp_sock *tp)
{
	u64 key = mptcp_above(tp);

	return key ? bpf_map_lookup_elem(&mptcp_holders, &key) : NULL;
}

/* The kernel makes further ones by a task of its own. */
static __always_inline void mptcp_owner_note(const struct watch_book *book, const struct tcp_sock *tp)
{
	u64 key = book->flags & WATCH_OURS ? mptcp_above(tp) : 0;

	if (key)
		mptcp_holder_is(key, &book->owner);
}

static __always_inline void mptcp_apply(struct watch_book *book, const struct tcp_sock *tp)
{
	struct watch_task *task = book->layers & 1u << WATCH_LAYER_MPTCP ? mptcp_holder(tp) : NULL;

	if (task)
		owner_note(book, task, is_member(task->tgid));
}

/* One that listens. */
static __always_inline void mptcp_listens(struct tcp_sock *tp)
{
	struct watch_task *task = is_mptcp(tp) ? mptcp_holder(tp) : NULL;

	if (task)
		heir_note((struct sock *)tp, task, is_member(task->tgid));
}

static __always_inline bool lock_is_owned(const struct sock *sk)
{
	return sk->sk_lock.owned != 0;
}

/* Another one may be a copy of the program, or of another release. */
static __always_inline bool current_is_a_watch(void)
{
	const union comm known = { WATCH_NAME }, current = comm_of(bpf_get_current_task_btf());

	return current.words[0] == known.words[0] && current.words[1] == known.words[1];
}

static __always_inline bool owner_is_current(const struct watch_book *book)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return !(book->flags & WATCH_GUESSED) && book->owner.tgid == (u32)task->tgid &&
	       book->owner.started_ns == POINTER_IN(task_struct, task, group_leader)->start_boottime;
}

VERIFIED_ONCE int owner_becomes_current(struct watch_book *book)
{
	struct watch_task task = {};

	/* To describe a task takes a dozen reads. One that entered the subject's cgroup is to be noted. */
	if (!book || (!cgroup_decides && owner_is_current(book)) || current_is_a_watch())
		return 0;
	task_describe_current(&task);
	return owner_note(book, &task, current_is_member(&task));
}

static __always_inline void owner_note_current(struct watch_book *book, const struct sock *sk)
{
	if (lock_is_owned(sk))
		owner_becomes_current(book);
}

/* A process has joined the subject and brought the socket along. */
static __always_inline void brought_apply(struct watch_book *book)
{
	const struct watch_task *task;

	if (!others_join || book->flags & WATCH_OURS)
		return;
	task = bpf_map_lookup_elem(&brought, &book->cookie);
	if (task)
		owner_note(book, task, true);
}

/* The socket ends, and nobody was seen to use it but by a walk over descriptors. */
static __always_inline void owner_note_holder(struct watch_book *book)
{
	brought_apply(book);
	if (!book->owner.tgid && book->pass)
		owner_note(book, &book->holder, is_member(book->holder.tgid));
}

enum { STACK_NEWS_BYTES = 64 << 10 };

/* Processes whose code is worth a look of user space: they may end soon. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, STACK_NEWS_BYTES);
} stack_news SEC(".maps") __weak;

/* Where there is no room, the next time tells. */
static __always_inline void program_met(u32 tgid, u64 started_ns)
{
	struct stack_task task = { .started_ns = started_ns, .tgid = tgid };

	bpf_ringbuf_output(&stack_news, &task, sizeof(task), BPF_RB_FORCE_WAKEUP);
}

#endif
