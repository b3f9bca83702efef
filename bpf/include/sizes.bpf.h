/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of each process: how large its calls were, in powers of two by way; how long the pages of its zero-copy sends were held,
 * until the kernel notified and until the program read that.
 */
#ifndef COPYSCOPE_SIZES_BPF_H
#define COPYSCOPE_SIZES_BPF_H

#include "bpf/include/queues.bpf.h"
#include "bpf/include/send_flags.bpf.h"

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
	if (!bpf_map_update_elem(&sizes_of, &process, &place, BPF_NOEXIST)) {
		of->task = task;
		return place;
	}
	/* Another thread came first, and this place stays empty: with a task it would hide the other one. */
	known = bpf_map_lookup_elem(&sizes_of, &process);
	return known ? *known : 0;
}

/* The process that calls is not the one that called before. */
static __always_inline bool caller_changes(struct watch_slot *slot, u32 tgid)
{
	if (!sizes_open || !(slot->ours || (watch_filter == WATCH_OF_TASKS && !ports_decide() && is_member(tgid))))
		return false;
	/* Whose it is in the end, the next walk over descriptors tells. */
	if (!slot->ours)
		gauge_add(&watch_gauges.size_strays, 1);
	/* A place that is none loses the calls of this socket on purpose. */
	slot->sizes_at = is_lost(FAULT_LOSE_SIZES) ? SIZES_PROCESSES + 1 : sizes_place();
	slot->caller = tgid;
	return true;
}

/* Has the process that calls a place for what it does with this socket? */
static __always_inline bool caller_is_known(struct watch_slot *slot)
{
	u32 tgid = bpf_get_current_task_btf()->tgid;

	return slot->caller == tgid || caller_changes(slot, tgid);
}

/* How many bits it takes to write it: five comparisons, where shifts in turn would take four times as many. */
#define BITS_2(n, k) ((n) < 1u << (k) ? (k) : (k) + 1)
#define BITS_4(n, k) ((n) < 1u << ((k) + 1) ? BITS_2(n, k) : BITS_2(n, (k) + 2))
#define BITS_8(n, k) ((n) < 1u << ((k) + 3) ? BITS_4(n, k) : BITS_4(n, (k) + 4))
#define BITS_16(n, k) ((n) < 1u << ((k) + 7) ? BITS_8(n, k) : BITS_8(n, (k) + 8))

static __always_inline u32 bits_of(u32 n)
{
	return n < 1u << 15 ? BITS_16(n, 0) : n < 1u << 31 ? BITS_16(n, 16) : 32;
}

/* A call by this way has returned: an error has no size. Where sizes are not wanted, nobody calls this. */
static __always_inline void call_sized(struct watch_slot *slot, u32 way, int ret)
{
	struct size_bucket *bucket;
	struct call_sizes *of;

	if (ret < 0)
		return;
	if (!caller_is_known(slot)) {
		if (window_is_open)
			__sync_fetch_and_add(&slot->unsized_calls, 1);
		return;
	}
	of = bpf_map_lookup_elem(&sizes, &slot->sizes_at);
	if (!of || way >= CALL_WAY_COUNT)
		return;
	bucket = &of->bucket[way][bits_of(ret) & (SIZE_BUCKETS - 1)];
	__sync_fetch_and_add(&bucket->calls, 1);
	__sync_fetch_and_add(&bucket->bytes, ret);
}

/* A send is known by its socket and the number that its notification has of it (sk_zckey). Those of io_uring bring a
 * notification that has none, whose place in memory is theirs until it ends. No cookie is 0. */
#define COOKIE_OF_RINGS 0

enum {
	HELD_MOST = 1 << 16,	/* sends that are held, or whose notification nobody has read */
	UNREAD_MOST = 1 << 10,	/* of these, of one socket: the reading of further ones is not timed */
	HOLD_HOPS = 1 << 17,	/* sends that one notification may stand for, and more */
	RAISE_TRIES = 4,
};

/* Set before load: a hook tells when the error queue is read; another one when a notification of io_uring's ends. */
const volatile bool readings_told __weak = false, ring_ends_told __weak = false;

struct held_send {
	u64 cookie;
	u64 id;
};

struct hold {
	u64 sent_ns;
	u64 posted_ns;	/* 0: not yet */
	u64 place;	/* of the process that sent */
	u64 outstanding;	/* of its sends, with this one */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HELD_MOST);
	__type(key, struct held_send);
	__type(value, struct hold);
} held SEC(".maps") __weak;

/* Beside the sizes of each process. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_holds);
} holds SEC(".maps") __weak;

static __always_inline struct call_holds *holds_at(u64 at)
{
	u32 place = at;

	return bpf_map_lookup_elem(&holds, &place);
}

/* Another processor may raise it at the same time. */
static __always_inline void raise(unsigned long long *most, u64 to)
{
	#pragma unroll
	for (int i = 0; i < RAISE_TRIES; i++) {
		u64 known = *most;

		if (to <= known || __sync_val_compare_and_swap(most, known, to) == known)
			return;
	}
}

static __always_inline void time_add(struct hold_times *times, u64 ns)
{
	u32 bits = ns >> 32 ? 32 + bits_of(ns >> 32) : bits_of(ns);

	__sync_fetch_and_add(&times->bucket[bits < HOLD_BUCKETS ? bits : HOLD_BUCKETS - 1], 1);
	__sync_fetch_and_add(&times->sends, 1);
	raise(&times->longest_ns, ns);
	raise(&times->shortest_less, ~ns);
}

/* The send that is under way has this number; all its turns come here. */
static __always_inline void hold_begins(const struct sock *sk, struct watch_slot *slot, const struct msghdr *msg)
{
	struct hold fresh = {};
	bool ring = brings_notification(msg);
	struct held_send key = { cookie_of(sk), (u32)(sk->sk_zckey.counter - 1) };
	struct call_holds *of;

	if (!sizes_wanted || !window_is_open || (ring && !ring_ends_told) || !caller_is_known(slot))
		return;
	if (ring)
		key = (struct held_send){ COOKIE_OF_RINGS, (u64)POINTER_IN(msghdr, msg, msg_ubuf) };
	if (bpf_map_lookup_elem(&held, &key))
		return;
	fresh.sent_ns = bpf_ktime_get_ns();
	fresh.place = slot->sizes_at;
	of = holds_at(fresh.place);
	if (!of)
		return;
	/* Its end may come before somebody looks for it. */
	if (ring && !packets_watched) {
		of->rings_missed = 1;
		return;
	}
	fresh.outstanding = __sync_fetch_and_add(&of->outstanding, 1) + 1;
	if (!bpf_map_update_elem(&held, &key, &fresh, BPF_NOEXIST))
		return;
	__sync_fetch_and_add(&of->outstanding, -1);
	__sync_fetch_and_add(&of->untimed, 1);
}

/* A send that failed gives its number back. */
static __always_inline void hold_fails(const struct sock *sk)
{
	struct held_send key = { cookie_of(sk), sk->sk_zckey.counter };
	struct hold *hold = bpf_map_lookup_elem(&held, &key);
	struct call_holds *of = hold && !hold->posted_ns ? holds_at(hold->place) : NULL;

	if (of && !bpf_map_delete_elem(&held, &key))
		__sync_fetch_and_add(&of->outstanding, -1);
}

/* A send that failed does not come here: it is none of those that were outstanding. */
static __always_inline void hold_over(const struct hold *hold, struct call_holds *of)
{
	raise(&of->outstanding_most, hold->outstanding);
	__sync_fetch_and_add(&of->outstanding, -1);
}

enum hold_event { HOLD_POSTED, HOLD_READ, HOLD_ENDS };

/* A walk over sends of one socket in the order of their numbers. */
struct hold_walk {
	struct held_send next;
	u64 now_ns;
	u32 event;	/* enum hold_event */
	u32 copied;
	u32 keep_before;	/* numbers before this one are kept until they are read */
	u32 unused;
};

static __always_inline void hold_posted(struct hold_walk *w, struct hold *hold, struct call_holds *of)
{
	if (hold->posted_ns)
		return;
	hold->posted_ns = w->now_ns;
	time_add(&of->posted, w->now_ns - hold->sent_ns);
	__sync_fetch_and_add(w->copied ? &of->copied : &of->released, 1);
	hold_over(hold, of);
	if ((s32)((u32)w->next.id - w->keep_before) >= 0)
		bpf_map_delete_elem(&held, &w->next);
}

static __always_inline void hold_read(struct hold_walk *w, struct hold *hold, struct call_holds *of)
{
	if (!hold->posted_ns)
		return;
	time_add(&of->read, w->now_ns - hold->sent_ns);
	bpf_map_delete_elem(&held, &w->next);
}

/* The socket is gone, and whoever waited for its notification waits no more. */
static __always_inline void hold_ends(struct hold_walk *w, struct hold *hold, struct call_holds *of)
{
	if (!hold->posted_ns) {
		__sync_fetch_and_add(&of->closed, 1);
		hold_over(hold, of);
	}
	bpf_map_delete_elem(&held, &w->next);
}

/* A notification of io_uring's ends: who reads it makes no call. @moved: its send did not fail. @told: of copies. */
static __always_inline void ring_hold_ends(u64 notification, bool moved, bool told, bool copied)
{
	struct held_send key = { COOKIE_OF_RINGS, notification };
	struct hold *found = bpf_map_lookup_elem(&held, &key), hold;
	struct call_holds *of = found ? holds_at(found->place) : NULL;

	if (!of)
		return;
	hold = *found;
	if (bpf_map_delete_elem(&held, &key))
		return;
	if (!moved) {
		__sync_fetch_and_add(&of->outstanding, -1);
		return;
	}
	time_add(&of->posted, bpf_ktime_get_ns() - hold.sent_ns);
	__sync_fetch_and_add(&of->by_ring, 1);
	__sync_fetch_and_add(!told ? &of->untold : copied ? &of->copied : &of->released, 1);
	hold_over(&hold, of);
}

static long hold_hop(u32 hop, void *arg)
{
	struct hold_walk *w = arg;
	struct hold *hold = bpf_map_lookup_elem(&held, &w->next);
	struct call_holds *of = hold ? holds_at(hold->place) : NULL;

	if (of && w->event == HOLD_POSTED)
		hold_posted(w, hold, of);
	else if (of && w->event == HOLD_READ)
		hold_read(w, hold, of);
	else if (of)
		hold_ends(w, hold, of);
	w->next.id = (u32)(w->next.id + 1);
	return 0;
}

static __always_inline void holds_walk(struct hold_walk *w, u64 cookie, u32 from, u32 below)
{
	u32 count = below - from;

	w->next.cookie = cookie;
	w->next.id = from;
	w->now_ns = bpf_ktime_get_ns();
	if ((s32)count > 0)
		bpf_loop(count < HOLD_HOPS ? count : HOLD_HOPS, hold_hop, w, 0);
}

/* The kernel notified of these sends. */
static __always_inline void holds_posted(const struct sock *sk, const struct watch_slot *slot, u32 from, u32 below,
					 bool copied)
{
	struct hold_walk w = { .event = HOLD_POSTED, .copied = copied };

	if (!sizes_wanted || !slot->caller)
		return;
	w.keep_before = readings_told ? slot->zerocopy_id + UNREAD_MOST : from;
	holds_walk(&w, cookie_of(sk), from, below);
}

/* The program has read its error queue: what is not there any more. */
static __always_inline void holds_read(const struct sock *sk, struct watch_slot *slot)
{
	u64 head = (u64)sk + bpf_core_field_offset(struct sock, sk_error_queue);
	struct hold_walk w = { .event = HOLD_READ };
	const struct sk_buff *first = POINTER_IN(sock, sk, sk_error_queue.next);
	u32 below = slot->next_id, from = slot->zerocopy_id;
	const struct sock_exterr_skb *error;

	if (!sizes_wanted || !slot->caller)
		return;
	if (first && (u64)first != head) {
		error = (void *)first + bpf_core_field_offset(struct sk_buff, cb);
		if (error->ee.ee_origin != SO_EE_ORIGIN_ZEROCOPY_NUMBER)
			return;
		below = error->ee.ee_info;
	}
	if ((s32)(below - from) <= 0)
		return;
	slot->zerocopy_id = below;
	holds_walk(&w, cookie_of(sk), from, below);
}

/* The socket dies. */
static __always_inline void holds_end(const struct sock *sk, const struct watch_slot *slot)
{
	struct hold_walk w = { .event = HOLD_ENDS };

	if (sizes_wanted && slot && slot->caller)
		holds_walk(&w, cookie_of(sk), slot->zerocopy_id, sk->sk_zckey.counter);
}

#endif
