/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Begins and reads the books of UDP sockets. No change of state tells of them. In a run a book begins with the first
 * call of a task of the subject that uses the socket. In a watch it begins with the socket, with the first walk over
 * descriptors, or with the first call if neither saw it, and ends with the socket.
 *
 * Sends and receives of datagrams take no lock, nor does what queues them. So a reading that something moved
 * meanwhile is taken again, and says so if that did not help.
 */
#ifndef COPYSCOPE_DATAGRAM_BPF_H
#define COPYSCOPE_DATAGRAM_BPF_H

#include "bpf/include/detail.bpf.h"
#include "bpf/include/queues.bpf.h"

/* Set before load: the books are those of a watch. */
const volatile bool datagrams_watch __weak = false;
/* Which hooks of a watch for UDP are attached, of enum watch_datagrams; whether those are that TCP passes, too. */
volatile __u32 datagrams_watched __weak = DATAGRAMS_UNKNOWN;
/* The walk that opened the window had all of them: what it did not meet had moved nothing. */
volatile __u32 datagrams_opened __weak = 0;
volatile __u32 datagrams_shared __weak = 0;

struct numa_drop_counters___k {
	atomic_t drops0, drops1;
} OF_KERNEL;

/* A pointer to other counters since 6.18. */
struct sock___drops {
	struct numa_drop_counters___k *sk_drop_counters;
} OF_KERNEL;

static __always_inline u32 drops_of(const struct sock *sk)
{
	const struct sock___drops *now = (const void *)sk;
	const struct numa_drop_counters___k *apart = NULL;

	if (bpf_core_field_exists(now->sk_drop_counters))
		apart = BPF_CORE_READ(now, sk_drop_counters);
	return apart ? BPF_CORE_READ(apart, drops0.counter) + BPF_CORE_READ(apart, drops1.counter) :
		       BPF_CORE_READ(sk, sk_drops.counter);
}

struct unread_walk {
	u64 node, end, bytes;
};

static long unread_hop(u32 hop, void *arg)
{
	struct unread_walk *w = arg;
	const struct sk_buff *skb = (void *)w->node;

	if (!skb || w->node == w->end)
		return 1;
	w->bytes += BPF_CORE_READ(skb, len);
	w->node = (u64)BPF_CORE_READ(skb, next);
	return 0;
}

VERIFIED_ONCE u64 queued_at(u64 head)
{
	struct unread_walk w = { .node = (u64)BPF_CORE_READ((struct sk_buff_head *)head, next), .end = head };

	bpf_loop(WALK_HOPS, unread_hop, &w, 0);
	return w.bytes;
}

/* What a reader has taken over to itself lies in a queue of its own. */
static __always_inline u64 unread_of(const struct sock *sk)
{
	return queued_at((u64)sk + bpf_core_field_offset(struct sock, sk_receive_queue)) +
	       queued_at((u64)sk + bpf_core_field_offset(struct udp_sock, reader_queue));
}

/* Accepted with MSG_MORE or UDP_CORK, for a datagram that is not whole. */
static __always_inline u32 unsent_datagram(const struct sock *sk)
{
	const struct udp_sock *up = (const void *)sk;
	u16 bytes = BPF_CORE_READ(up, len);

	return BPF_CORE_READ(up, pending) && bytes > UDP_HEADER_BYTES ? bytes - UDP_HEADER_BYTES : 0;
}

/* What lies in the queues, and what was counted by then. Did something move meanwhile? */
static __always_inline bool queues_moved(struct watch_book *book, const struct sock *sk)
{
	const volatile struct watch_slot *slot = slot_of(book);
	u32 moves = slot ? slot->moves : 0;

	book->now.unread = unread_of(sk);
	counts_take(book);
	book->now.restless = !slot || slot->under_way || slot->moves != moves;
	return book->now.restless;
}

/* The socket may be one that the verifier does not know the type of. */
VERIFIED_ONCE int datagram_read(struct watch_book *book, u64 socket)
{
	const struct sock *sk = (const void *)socket;
	struct watch_reading *r;

	if (!book)
		return 0;
	r = &book->now;
	r->unsent = unsent_datagram(sk);
	r->drops = drops_of(sk);
	r->zerocopy_sends = BPF_CORE_READ(sk, sk_zckey.counter);
	r->option_bytes = BPF_CORE_READ(sk, sk_omem_alloc.counter);
	r->asks_zerocopy = BPF_CORE_READ(sk, __sk_common.skc_flags) >>
				   bpf_core_enum_value(enum sock_flags, SOCK_ZEROCOPY) & 1;
	queues_empty(r);
	if ((u64)BPF_CORE_READ(sk, sk_user_data) & SK_USER_DATA_PSOCK_BIT)
		sockmap_note(book);
	/* No loop: 6.1 follows none around a call of a callback. */
	if (queues_moved(book, sk) && queues_moved(book, sk))
		queues_moved(book, sk);
	return 0;
}

VERIFIED_ONCE int datagram_addresses_read(struct watch_book *book, u64 socket)
{
	const struct sock *sk = (const void *)socket;
	const struct inet_sock *inet = (const void *)sk;

	if (!book)
		return 0;
	book->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (book->family == AF_INET6_FAMILY) {
		BPF_CORE_READ_INTO(&book->local_ip, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&book->remote_ip, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32);
	} else {
		book->local_ip[2] = book->remote_ip[2] = bpf_htonl(0xffff);
		book->local_ip[3] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		book->remote_ip[3] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	}
	book->local_port = bpf_ntohs(BPF_CORE_READ(inet, inet_sport));
	book->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	book->addresses_known = book->remote_port != 0;
	if (details_wanted)
		flow_note(book, IPPROTO_UDP_NUMBER);
	return 0;
}

static __always_inline void datagram_reading(struct watch_book *book, const struct sock *sk)
{
	u64 address = address_of(sk);

	datagram_read(book, address);
	datagram_addresses_read(book, address);
}

static __always_inline bool datagram_is_wanted(const struct sock *sk)
{
	if (watch_filter == WATCH_OF_ALL || watch_filter == WATCH_OF_PORTS)
		return true;
	if (watch_filter == WATCH_OF_NETNS)
		return inum_is_ours(netns_of(sk));
	return current_becomes_ours();
}

/* The book and the slot are new. Bytes that passed since the slot was taken are counted already. */
static __always_inline void datagram_opens(struct watch_book *book, const struct sock *sk, struct watch_slot *slot)
{
	slot->datagrams = 1;
	slot->zerocopy_id = BPF_CORE_READ(sk, sk_zckey.counter);
	slot->departures_noted = packets_watched;
	slot->pages_unwatched = counts_by_tracepoint && !datagrams_shared ? WATCH_PACKETS_UNSEEN : 0;
	datagram_reading(book, sk);
	book->opened = book->now;
	book->opened.unread += book->rx_copied - book->slot.rx_peeked + book->slot.rx_cut - book->slot.rx_queued;
}

/* The current task is known to use the socket. */
static __always_inline struct watch_slot *datagram_used(struct watch_book *book)
{
	struct watch_slot *slot = slot_of(book);
	struct watch_task task = {};

	task_describe_current(&task);
	owner_note(book, &task, current_is_member(&task));
	if (slot)
		slot->user = task.tgid;
	ours_note(book);
	return slot;
}

/* A socket of the subject's, while no hook sees its datagrams: what it moves until they are attached is not measured. The
 * walk that opens the window meets those that are older. */
static __always_inline struct watch_book *datagram_waits(struct sock *sk)
{
	struct watch_book *book;

	hooks_want(&watch_gauges.datagrams_due);
	if (!window_is_open || watch_mode == WATCH_MODE_OPEN)
		return NULL;
	book = book_begin(sk);
	if (!book || book->flags & WATCH_LATE)
		return book;
	book->flags |= WATCH_DATAGRAMS | WATCH_LATE | WATCH_UNOPENED;
	slot_give_back(book);
	return book;
}

/* It has no slot while it waits: nothing of it is counted before its opening balance is read. */
static __always_inline void datagram_met(struct watch_book *book)
{
	if (!(book->flags & WATCH_UNOPENED))
		return;
	book->flags &= ~WATCH_UNOPENED;
	book_take_slot(book);
}

/* The kernel tells of the ends of its own. */
static __always_inline bool datagram_may_begin(const struct sock *sk)
{
	return datagrams_watched && fault_inject != FAULT_SKIP_BIRTHS && datagram_is_wanted(sk) &&
	       !BPF_CORE_READ_BITFIELD_PROBED(sk, sk_kern_sock);
}

/* By the current task. */
static __always_inline struct watch_book *datagram_used_early(struct sock *sk)
{
	struct watch_book *book = datagram_waits(sk);

	if (book)
		datagram_used(book);
	return book;
}

/* A socket that nobody met begins to be used; @made: it is new, and nothing can lie in its queues. */
static __always_inline struct watch_book *datagram_begin(struct sock *sk, bool made)
{
	struct watch_slot *slot;
	struct watch_book *book;

	if (!datagram_may_begin(sk))
		return NULL;
	if (datagrams_watched == DATAGRAMS_AWAITED)
		return datagram_used_early(sk);
	book = book_begin(sk);
	if (!book)
		return NULL;
	datagram_met(book);
	slot = slot_of(book);
	book->flags |= WATCH_DATAGRAMS;
	if (!slot || slot->datagrams)
		return book;
	book->flags |= made || datagrams_opened ? WATCH_BORN : WATCH_LATE;
	if (counts_by_tracepoint && !datagrams_shared)
		hooks_want(&watch_gauges.datagrams_seen);
	datagram_opens(book, sk, slot);
	if (made)
		book->opened.unread = book->opened.restless = 0;
	else
		completions_begin(slot, &book->opened, sk);
	datagram_used(book);
	return book;
}

/* A walk over descriptors meets the socket. Where hooks are missing while the window opens, there will be another one. */
static __always_inline struct watch_book *datagram_found(struct sock *sk, struct watch_book *book)
{
	struct watch_slot *slot;

	if (!datagrams_watched || (watch_filter == WATCH_OF_NETNS && !inum_is_ours(netns_of(sk))))
		return book;
	if (datagrams_watched == DATAGRAMS_AWAITED)
		return datagram_waits(sk);
	if (watch_mode == WATCH_MODE_READ)
		return book;
	if (counts_by_tracepoint && !datagrams_shared) {
		hooks_want(&watch_gauges.datagrams_seen);
		return book;
	}
	if (!book)
		book = book_begin(sk);
	if (!book)
		return NULL;
	datagram_met(book);
	book->flags &= ~WATCH_LATE;
	book->flags |= WATCH_DATAGRAMS;
	slot = slot_of(book);
	if (!slot)
		return book;
	if (!slot->datagrams) {
		datagram_opens(book, sk, slot);
		completions_begin(slot, &book->opened, sk);
		slot->zerocopy_id = book->opened.zerocopy_sends;
	} else if (!slot->sent_as[WATCH_KIND_REFERENCE] && !slot->sent_as[WATCH_KIND_SPLICE]) {
		slot->departures_noted = packets_watched;
	}
	return book;
}

/* The slot of a socket of a watch, which the current task uses. */
static __always_inline struct watch_slot *datagram_watched(struct sock *sk, u32 *place)
{
	struct watch_slot *slot = slot_at(cookie_of(sk), place);
	struct watch_book *book;

	if (slot && slot->user == (u32)(bpf_get_current_pid_tgid() >> 32))
		return slot;
	book = slot ? bpf_sk_storage_get(&watch_books, sk, 0, 0) : datagram_begin(sk, false);
	if (!book || !book->slot_at)
		return slot;
	*place = book->slot_at - 1;
	return slot ? datagram_used(book) : slot_of(book);
}

/* User space learns of the book as it begins: what is counted lies in tables that outlive the socket. */
static __always_inline struct watch_slot *datagram_born(struct sock *sk, u64 cookie)
{
	struct watch_book *book = book_begin_as(sk, cookie);
	struct watch_slot *slot = book ? slot_of(book) : NULL;

	if (!slot)
		return NULL;
	book->flags |= WATCH_BORN | WATCH_OURS;
	task_describe_current(&book->owner);
	addresses_take(book, sk);
	slot->datagrams = 1;
	slot->ours = 1;
	/* It is told once: nobody waits for the end of a socket that no hook sees end. */
	census_end(book);
	death_tell(book);
	return slot;
}

/* That of a run. The workload has asked for the cookies of its sockets, so that they have them; some hooks may not
 * give them one. */
static __always_inline struct watch_slot *datagram_of_run(struct sock *sk, u32 *place)
{
	u64 cookie = sk && is_udp(sk) ? cookie_of(sk) : 0;
	struct watch_slot *slot;

	if (!cookie)
		return NULL;
	slot = slot_at(cookie, place);
	/* A packet of another program's may pass a device while a task of the subject is current. */
	if (slot || !task_is_ours() || !netns_is_ours(netns_of(sk)) || !datagram_born(sk, cookie))
		return slot;
	return slot_at(cookie, place);
}

/* The slot of a socket for datagrams that the current task uses, if it is the subject's; *@place: where it lies. */
static __always_inline struct watch_slot *datagram_slot(struct sock *sk, u32 *place)
{
	return datagrams_watch ? datagram_watched(sk, place) : datagram_of_run(sk, place);
}

#endif
