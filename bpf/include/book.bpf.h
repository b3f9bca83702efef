/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the books of watched sockets are: in the storage of the socket, and beside it in a table of
 * slots for hooks that know no more of a socket than its cookie.
 */
#ifndef COPYSCOPE_BOOK_BPF_H
#define COPYSCOPE_BOOK_BPF_H

#include "vmlinux/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf/include/compat.bpf.h"
#include "bpf/include/sites.h"
#include "bpf/include/skb.bpf.h"
#include "bpf/include/urgent.bpf.h"
#include "bpf/include/watch.h"

/* Kernels built without MPTCP or SMC lack them. */
struct tcp_sock___mptcp {
	bool is_mptcp;
} OF_KERNEL;

/* Which MPTCP socket is above this one of TCP's: all of its subflows have its token. */
struct mptcp_subflow_context___token {
	u32 token;
} OF_KERNEL;

struct tcp_sock___smc {
	u8 syn_smc : 1;
} OF_KERNEL;

/*
 * A function that the verifier follows once, for any arguments, and not on each way that leads to it and on from there
 * (51c39bb1d5d1, "bpf: Introduce function-by-function verification"). It returns a number, knows what it points to by
 * size alone, and takes kernel objects as addresses. For what is rare: a call costs what an inlined copy does not.
 */
#define VERIFIED_ONCE __weak __noinline

/* As a number: the verifier takes none from a cast. */
static __always_inline u64 address_of(const void *object)
{
	u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &object);
	return address;
}

/* No table of slots is so long. */
enum { NO_PLACE = ~0u };

/* Set before load. */
const volatile __u32 watch_filter __weak = WATCH_OF_TASKS;
const volatile __u32 slot_buckets_mask __weak = 0;	/* buckets less one: they are a power of 2 */
const volatile __u32 late_copies_hooked __weak = 0;	/* where they are made: arrivals tell nothing new */
const volatile __u32 fault_inject __weak = FAULT_NONE;
const volatile bool calls_wanted __weak = false;	/* what calls returned is counted, too: the witness */
const volatile bool sizes_wanted __weak = false;	/* and how large each call was */
const volatile bool details_wanted __weak = false;	/* so is what lies beside the slots */
const volatile bool counts_by_tracepoint __weak = false;	/* without trampolines */
const volatile bool stacks_wanted __weak = false;	/* what calls move is put to stacks of their programs */
const volatile bool slots_stay __weak = false;	/* also when their sockets have died */
const volatile bool opened_by_walk __weak = false;	/* what there is when the window opens: a watch */

struct watch_gauges watch_gauges __weak = {};
/* The hooks for packets with user pages are attached. */
volatile __u32 packets_watched __weak = 0;
/* Set before each walk over sockets or descriptors. */
volatile __u32 watch_mode __weak = WATCH_MODE_OPEN;
volatile __u32 watch_pass __weak = 0;

/* Ends with the socket, whoever forgets it. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watch_book);
} watch_books SEC(".maps") __weak;

enum { DEATHS_BYTES = 1 << 20, DEATHS_LATE = DEATHS_BYTES / 2, DEATHS_STEP = 64 << 10, DEATHS_BESIDE_MAX = 32768 };

static __always_inline void gauge_add(unsigned long long *gauge, u64 n)
{
	__sync_fetch_and_add(gauge, n);
}

/* A table had no room, or its lock was held by the program that this one interrupted (-EBUSY, htab_lock_bucket() in
 * kernel/bpf/hashtab.c; -EDEADLK and -ETIMEDOUT since 6.16). */
static __always_inline void note_lost_update(void)
{
	gauge_add(&watch_gauges.lost_updates, 1);
}

/* Books of sockets that died, processes of the subject that are gone. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DEATHS_BYTES);
} deaths SEC(".maps") __weak;

/* cookie -> a book for which the ring had no room: memory for those alone that user space comes too late for */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, DEATHS_BESIDE_MAX);
	__type(key, u64);
	__type(value, struct watch_book);
} deaths_beside SEC(".maps") __weak;

/* How many wait there. User space takes off what it takes out. */
volatile __u64 deaths_waiting __weak = 0;

/* To wake user space costs a connection as much as all else. It looks by itself less than twice a second; before that
 * it is woken where the ring fills, with each step of it. 0, or the error of a ring that is full. */
static __always_inline long end_tell(void *item, u64 bytes)
{
	u64 waiting = bpf_ringbuf_query(&deaths, BPF_RB_AVAIL_DATA);
	bool late = waiting > DEATHS_LATE && waiting % DEATHS_STEP < sizeof(struct watch_book);

	return bpf_ringbuf_output(&deaths, item, bytes, late ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void death_tell(struct watch_book *book)
{
	u64 cookie = book->cookie;

	if (!end_tell(book, sizeof(*book)))
		return;
	if (bpf_map_update_elem(&deaths_beside, &cookie, book, BPF_NOEXIST))
		gauge_add(&watch_gauges.lost_deaths, 1);
	else
		__sync_fetch_and_add(&deaths_waiting, 1);
}

/* What it is to see at once is no item. */
static __always_inline void user_space_wake(void)
{
	void *nothing = bpf_ringbuf_reserve(&deaths, sizeof(u64), 0);

	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/* The first socket that needs hooks which are not attached yet. */
static __always_inline void hooks_want(unsigned long long *seen)
{
	if (*seen)
		return;
	*seen = 1;
	user_space_wake();
}

/* Something is in this table. */
volatile __u32 ring_sends_noted __weak = 0;

struct ring_send {
	u64 cookie;	/* of the socket: the notification holds none itself */
	u64 moved_ns;	/* when bytes of it were accepted last, 0: never; one that fails has a notification, too */
};

/* io_uring's notification -> its send, until it ends: then another send may have its memory */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct ring_send);
} ring_sends SEC(".maps") __weak;

/* A send of io_uring's brings its own notification. */
static __always_inline void note_ring_send(const struct msghdr *msg, u64 cookie, struct watch_slot *slot, bool moved)
{
	struct ring_send fresh = { cookie }, *known;
	u64 ubuf;

	if (!bpf_core_field_exists(msg->msg_ubuf))
		return;
	ubuf = (u64)POINTER_IN(msghdr, msg, msg_ubuf);
	if (!ubuf)
		return;
	slot->ring_used = 1;
	fresh.moved_ns = moved ? bpf_ktime_get_ns() : 0;
	known = bpf_map_lookup_elem(&ring_sends, &ubuf);
	if (known && known->cookie == cookie) {
		if (moved)
			known->moved_ns = fresh.moved_ns;
		return;
	}
	if (bpf_map_update_elem(&ring_sends, &ubuf, &fresh, BPF_ANY))
		note_lost_update();
	if (!ring_sends_noted)
		ring_sends_noted = 1;
}

/* The first value of a map that can be mapped is at the start of a page, so values are whole lines of
 * the cache; elsewhere behind the head of the map (kernel/bpf/arraymap.c, array_map_alloc). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct slot_bucket);
} slot_buckets SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WATCH_WAYS);
	__type(key, u32);
	__type(value, struct watch_slot);
} slots SEC(".maps") __weak;

/* Beside each slot: what the hooks of the set `detail` count */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct books);
} details SEC(".maps") __weak;

/* Beside each slot: what its calls put to stacks */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_sum);
} stack_sums SEC(".maps") __weak;

/* flow as it arrives -> cookie of the socket that receives it */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64);
	__type(key, struct flow);
	__type(value, u64);
} flows SEC(".maps") __weak;

/* One event is lost on purpose, and it is this one. */
static __always_inline bool is_lost(enum fault_inject fault)
{
	return fault_inject == fault && !__sync_fetch_and_add(&watch_gauges.injected_faults, 1);
}

/* The kernel hands out cookies in order, so their lowest bits spread best. */
static __always_inline u32 bucket_of(u64 cookie)
{
	return cookie & slot_buckets_mask;
}

/* A slot is in one of two buckets: then few sockets find none before most slots are taken. */
static __always_inline u32 other_bucket_of(u64 cookie)
{
	return (bucket_of(cookie) ^ ((cookie * 0x9e3779b97f4a7c15ull) >> 40 | 1)) & slot_buckets_mask;
}

/* A slot is in its second bucket. */
volatile __u32 other_buckets_used __weak = 0;

static __always_inline u32 place_in(u32 at, u64 cookie)
{
	const struct slot_bucket *bucket = bpf_map_lookup_elem(&slot_buckets, &at);

	#pragma unroll
	for (int way = 0; bucket && way < WATCH_WAYS; way++)
		if (bucket->way[way].cookie == cookie)
			return at * WATCH_WAYS + way;
	return NO_PLACE;
}

/* Where the slot of this socket is if its first bucket has it not, or NO_PLACE, which no table has. */
VERIFIED_ONCE u32 other_place_of(u64 cookie)
{
	return place_in(other_bucket_of(cookie), cookie);
}

static __always_inline struct slot_way *way_at(u32 place)
{
	u32 at = place / WATCH_WAYS;
	struct slot_bucket *bucket = bpf_map_lookup_elem(&slot_buckets, &at);

	if (!bucket)
		return NULL;
	/* The compiler would add to what the verifier does not know to be there yet. */
	barrier_var(bucket);
	return &bucket->way[place & (WATCH_WAYS - 1)];
}

/* Sets *@place: that of its slot. If nothing is to be counted, the verifier drops what follows. */
static __always_inline struct slot_way *way_find(u64 cookie, u32 *place)
{
	u32 at = bucket_of(cookie);
	struct slot_bucket *bucket;

	if (fault_inject == FAULT_COUNT_NOTHING || !cookie)
		return NULL;
	bucket = bpf_map_lookup_elem(&slot_buckets, &at);
	if (!bucket)
		return NULL;
	#pragma unroll
	for (int way = 0; way < WATCH_WAYS; way++)
		if (bucket->way[way].cookie == cookie) {
			*place = at * WATCH_WAYS + way;
			return &bucket->way[way];
		}
	if (!other_buckets_used)
		return NULL;
	*place = other_place_of(cookie);
	return *place == NO_PLACE ? NULL : way_at(*place);
}

/* Sets *@place. */
static __always_inline struct watch_slot *slot_at(u64 cookie, u32 *place)
{
	return way_find(cookie, place) ? bpf_map_lookup_elem(&slots, place) : NULL;
}

static __always_inline struct watch_slot *slot_find(u64 cookie)
{
	u32 place;

	return slot_at(cookie, &place);
}

static __always_inline void stack_sum_clear(u32 place)
{
	struct stack_sum *sum = stacks_wanted ? bpf_map_lookup_elem(&stack_sums, &place) : NULL;

	if (sum)
		*sum = (struct stack_sum){};
}

static __always_inline void slot_clear(u32 place)
{
	struct watch_slot *slot = bpf_map_lookup_elem(&slots, &place);
	struct books *detail = details_wanted ? bpf_map_lookup_elem(&details, &place) : NULL;

	stack_sum_clear(place);
	if (slot)
		__builtin_memset(slot, 0, sizeof(*slot));
	if (detail)
		__builtin_memset(detail, 0, sizeof(*detail));
}

/* The way of a socket that is gone. */
static __always_inline bool way_is_dead(const struct slot_way *way, u32 place)
{
	const struct watch_slot *slot = slots_stay ? bpf_map_lookup_elem(&slots, &place) : NULL;

	return slot && slot->dead;
}

/* Takes one of the first @most ways of a bucket that is free, or with @dead one of a socket that is gone. Its place, or
 * NO_PLACE. */
VERIFIED_ONCE u32 way_take(u32 at, u32 most, u64 cookie, u32 dead)
{
	struct slot_bucket *bucket = bpf_map_lookup_elem(&slot_buckets, &at);

	#pragma unroll
	for (u32 i = 0; bucket && i < WATCH_WAYS; i++) {
		u32 place = at * WATCH_WAYS + i;
		struct slot_way *way = &bucket->way[i];
		u64 free = 0;

		if (i >= most)
			break;
		if (dead) {
			if (!way_is_dead(way, place))
				continue;
			free = way->cookie;
		}
		if (__sync_val_compare_and_swap(&way->cookie, free, cookie) == free)
			return place;
	}
	return NO_PLACE;
}

/* The second bucket is asked where half of the first is taken; from then on both fill alike. */
static __always_inline u32 place_take(u64 cookie, u32 dead)
{
	u32 first = bucket_of(cookie), other = other_bucket_of(cookie), place = NO_PLACE;

	for (u32 most = WATCH_WAYS / 2; most <= WATCH_WAYS && place == NO_PLACE; most++) {
		place = way_take(first, most, cookie, dead);
		if (place != NO_PLACE)
			break;
		other_buckets_used = 1;
		place = way_take(other, most, cookie, dead);
	}
	return place;
}

/* Returns 1 + the place, 0 if there is none. Those of sockets that are gone are taken when no other is free. */
VERIFIED_ONCE u32 slot_take(u64 cookie)
{
	u32 place = cookie ? place_take(cookie, false) : NO_PLACE;
	struct slot_way *way;

	if (cookie && slots_stay && place == NO_PLACE)
		place = place_take(cookie, true);
	way = way_at(place);
	if (way) {
		way->rx_copied = 0;
		slot_clear(place);
		return place + 1;
	}
	if (cookie)
		gauge_add(&watch_gauges.no_slots, 1);
	return 0;
}

static __always_inline struct slot_way *way_of(const struct watch_book *book)
{
	return book->slot_at ? way_at(book->slot_at - 1) : NULL;
}

static __always_inline struct watch_slot *slot_of(const struct watch_book *book)
{
	u32 place = book->slot_at - 1;

	return book->slot_at ? bpf_map_lookup_elem(&slots, &place) : NULL;
}

/* What was counted outside the book, before it is handed on. */
VERIFIED_ONCE int counts_take(struct watch_book *book)
{
	const struct watch_slot *slot = book ? slot_of(book) : NULL;
	const struct slot_way *way = slot ? way_of(book) : NULL;
	const struct stack_sum *stacks;
	u32 place;

	if (!way)
		return 0;
	place = book->slot_at - 1;
	book->slot = *slot;
	book->rx_copied = way->rx_copied;
	stacks = stacks_wanted ? bpf_map_lookup_elem(&stack_sums, &place) : NULL;
	if (stacks)
		book->stacks = *stacks;
	return 0;
}

/* Raw bytes since the last change go to the kind of the sends since then. */
static __always_inline void slot_charge(struct watch_slot *slot, u64 accepted)
{
	if (slot->kind < WATCH_KINDS)
		slot->sent_as[slot->kind] += accepted - slot->since;
	slot->since = accepted;
}

/* From here on all that TCP sends must be seen to depart. Under the lock, under which it sends, too. */
static __always_inline void departures_note(struct watch_slot *slot, u64 sent)
{
	slot->departed_from = sent - slot->departed;
	slot->departures_noted = 1;
}

/* Packets and notifications of a socket that has died still count, if slots stay. */
static __always_inline void slot_give_back(struct watch_book *book)
{
	struct slot_way *way = way_of(book);
	struct watch_slot *slot;

	if (slots_stay) {
		slot = slot_of(book);
		if (slot)
			slot->dead = 1;
		return;
	}
	if (way)
		way->cookie = 0;
	book->slot_at = 0;
}

static __always_inline u64 accepted_of(const struct tcp_sock *tp)
{
	return tp->bytes_acked + (u32)(tp->write_seq - tp->snd_una);
}

/* A FIN takes a place in the sequence when the socket leaves these states, and keeps it. */
static __always_inline bool fin_in_sequence(u32 state)
{
	const u32 after_it = 1u << BPF_TCP_FIN_WAIT1 | 1u << BPF_TCP_FIN_WAIT2 | 1u << BPF_TCP_CLOSING |
			     1u << BPF_TCP_LAST_ACK | 1u << BPF_TCP_TIME_WAIT;

	return after_it >> (state & 31) & 1;
}

/*
 * In which state a field means what a reading takes it for:
 *
 *	field			SYN_SENT			CLOSE
 *	write_seq		from the SYN on; before it	up to the move; then tcp_disconnect() adds a
 *				the initial sequence number	window to it
 *	snd_nxt, snd_una	from the SYN on; before it	up to the move: what is unsent or unacknowledged
 *				those of an earlier life	is gone with its queue
 *	bytes_*, rcv_nxt,	always: tcp_disconnect()	until tcp_disconnect(), see closed_read_on()
 *	copied_seq		has set them to 0
 *
 * In all others they mean it: tests/odd/states.py has a socket in each state. A socket in LISTEN has no book. In SYN_SENT
 * the SYN waits in the queue of unacknowledged packets, unless it is not sent yet: TCP_FASTOPEN_CONNECT has connect()
 * return, and the first send sends it.
 */
static __always_inline bool syn_is_due(const struct sock *sk, u64 sent, int state)
{
	return state == BPF_TCP_SYN_SENT && !sent && !BPF_CORE_READ(sk, tcp_rtx_queue.rb_node);
}

/* @state: the one before, where the socket is told of a new one. */
static __always_inline void reading_take(struct watch_reading *r, const struct tcp_sock *tp, int state)
{
	const struct sock *sk = (const void *)tp;

	r->accepted = accepted_of(tp);
	r->sent = tp->bytes_sent;
	r->retransmitted = tp->bytes_retrans;
	r->received = tp->bytes_received;
	r->unsent = tp->write_seq - tp->snd_nxt;
	r->unacked = tp->snd_nxt - tp->snd_una;
	r->unread = tp->rcv_nxt - tp->copied_seq;
	r->zerocopy_sends = sk->sk_zckey.counter;
	r->urgent_seq = tp->urg_seq;
	r->urgent_due = tp->urg_data != 0;
	r->arrives_on = sk->sk_rx_dst_ifindex;
	r->state = state;
	r->fin_queued = fin_in_sequence(state);
	if (syn_is_due(sk, r->sent, state)) {
		r->accepted = 1;
		r->unsent = r->unacked = 0;
	}
	r->asks_zerocopy = sk->__sk_common.skc_flags >>
				   bpf_core_enum_value(enum sock_flags, SOCK_ZEROCOPY) & 1;
	r->orphaned = sk->__sk_common.skc_flags >> bpf_core_enum_value(enum sock_flags, SOCK_DEAD) & 1;
	r->fin_received = sk->__sk_common.skc_flags >>
			  bpf_core_enum_value(enum sock_flags, SOCK_DONE) & 1;
}

/* tcp_disconnect() took the numbers away that tell what was read since the last receive. Those of a closed socket may have
 * been spliced out, which no tracepoint tells. */
static __always_inline void disconnection_note(struct watch_book *book)
{
	if (counts_by_tracepoint && book->flags & WATCH_READABLE && book->closed.unread > book->closed.fin_received)
		book->flags |= WATCH_READS_UNSEEN;
}

/* A closed socket may still be read from. If tcp_disconnect() has set its numbers to 0 since, those of before are the
 * last. */
static __always_inline void closed_read_on(struct watch_book *book, const struct tcp_sock *tp,
					   const struct watch_reading *now)
{
	/* A send by reference that waited for room when the socket closed, and moved nothing, gives its number back. */
	book->closed.zerocopy_sends = now->zerocopy_sends;
	if (now->received < book->closed.received) {
		disconnection_note(book);
		return;
	}
	urgent_settle(&book->urgent, tp);
	book->closed.received = now->received;
	book->closed.unread = now->unread;
	book->closed.fin_received = now->fin_received;
}

/* Nobody can change a closed socket but who holds its lock, to read from it or for tcp_disconnect(), which takes numbers
 * away one after the other. False: somebody may have done so meanwhile. */
static __always_inline bool reading_take_unlocked(struct watch_reading *r, const struct tcp_sock *tp, int state)
{
	const struct sock *sk = (const void *)tp;
	int changes = sk->sk_lock.owned;

	reading_take(r, tp, state);
	changes |= *(const volatile int *)&sk->sk_lock.owned;
	return !changes && *(const volatile u64 *)&tp->bytes_received == r->received;
}

/* In CLOSE, before tcp_disconnect() takes the last of these numbers away. @locked: by the current task. */
static __always_inline void closed_socket_read(struct sock *sk, bool locked)
{
	struct watch_reading now;
	struct watch_book *book;
	const struct tcp_sock *tp;

	if (sk->__sk_common.skc_state != BPF_TCP_CLOSE)
		return;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!book || !tp || !(book->flags & WATCH_CLOSED))
		return;
	if (locked)
		reading_take(&now, tp, BPF_TCP_CLOSE);
	else if (!reading_take_unlocked(&now, tp, BPF_TCP_CLOSE))
		return;
	closed_read_on(book, tp, &now);
}

/* A FIN that nobody has read yet is the last of what is unread. */
static __always_inline u64 returned_of(const struct watch_reading *r)
{
	return r->received - r->unread - (r->fin_received && !r->unread);
}

static __always_inline void flow_note(const struct watch_book *book, u32 protocol)
{
	struct flow flow = { .sport = bpf_htons(book->remote_port), .dport = bpf_htons(book->local_port),
			     .protocol = protocol };
	u64 cookie = book->cookie;

	__builtin_memcpy(flow.saddr, book->remote_ip, sizeof(flow.saddr));
	__builtin_memcpy(flow.daddr, book->local_ip, sizeof(flow.daddr));
	if (bpf_map_update_elem(&flows, &flow, &cookie, BPF_ANY))
		note_lost_update();
}

static __always_inline void addresses_take(struct watch_book *book, const struct sock *sk)
{
	const struct inet_sock *inet = (const void *)sk;

	book->family = sk->__sk_common.skc_family;
	if (book->family == AF_INET6_FAMILY) {
		BPF_CORE_READ_INTO(&book->local_ip, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&book->remote_ip, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32);
	} else {
		book->local_ip[2] = book->remote_ip[2] = bpf_htonl(0xffff);
		book->local_ip[3] = sk->__sk_common.skc_rcv_saddr;
		book->remote_ip[3] = sk->__sk_common.skc_daddr;
	}
	/* skc_num is 0 by the time that the socket moves to CLOSE. */
	book->local_port = bpf_ntohs(BPF_CORE_READ(inet, inet_sport));
	book->remote_port = bpf_ntohs(sk->__sk_common.skc_dport);
	book->addresses_known = book->remote_port != 0;
	if (details_wanted)
		flow_note(book, sk->sk_protocol);
}

static __always_inline u32 netns_of(const struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
}

static __always_inline bool is_mptcp(const struct tcp_sock *tp)
{
	const struct tcp_sock___mptcp *mptcp = (const void *)tp;

	return bpf_core_field_exists(mptcp->is_mptcp) && mptcp->is_mptcp;
}

/* sk_psock_init() marks the pointer so: 2a0133723f9e ("net: fix refcount bug in sk_psock_get (2)"), 6.0. */
#define SK_USER_DATA_PSOCK_BIT 4ull
#define SK_USER_DATA_BPF_BIT 2 /* SK_USER_DATA_BPF */

static __always_inline bool is_in_sockmap(const struct sock *sk)
{
	return (u64)sk->sk_user_data & SK_USER_DATA_PSOCK_BIT;
}

static __always_inline void sockmap_note(struct watch_book *book)
{
	book->layers |= 1u << WATCH_LAYER_SOCKMAP;
	watch_gauges.sockmap_seen = 1;
}

/* The socket leaves its sockmap before it closes. */
static __always_inline void sockmap_seen(struct sock *sk)
{
	struct watch_book *book = bpf_sk_storage_get(&watch_books, sk, 0, 0);

	if (book)
		sockmap_note(book);
}

static __always_inline u32 layer_of_ulp(const struct tcp_ulp_ops *ulp)
{
	char name[4] = {};

	bpf_probe_read_kernel(name, sizeof(name), ulp->name);
	if (name[0] == 't' && name[1] == 'l' && name[2] == 's' && !name[3])
		return 1u << WATCH_LAYER_KTLS;
	if (name[0] == 's' && name[1] == 'm' && name[2] == 'c' && !name[3])
		return 1u << WATCH_LAYER_SMC;
	return 1u << WATCH_LAYER_ULP;
}

/* @data: of the upper layer protocol; it goes before the socket does. */
static __always_inline void mptcp_layer_note(struct watch_book *book, const void *data)
{
	const struct mptcp_subflow_context___token *subflow = data;

	book->layers |= 1u << WATCH_LAYER_MPTCP;
	if (!book->mptcp_token && subflow && bpf_core_field_exists(subflow->token))
		book->mptcp_token = BPF_CORE_READ(subflow, token);
}

/* Who hangs its own data on a program's socket (iscsi_tcp, kcm) is no program. One without a descriptor was so from its
 * birth, see book_begin_as(). */
static __always_inline bool is_used_by_kernel(const struct sock *sk)
{
	u64 data = (u64)sk->sk_user_data;

	return data && !(data & (SK_USER_DATA_PSOCK_BIT | SK_USER_DATA_BPF_BIT));
}

/* Notes what stands between the program and TCP. It may come late and go again, a sockmap before the socket
 * moves to CLOSE: call it wherever the socket is seen. */
static __always_inline void layers_note(struct watch_book *book, const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk = (const void *)tp;
	const struct tcp_sock___smc *smc = (const void *)tp;
	const struct tcp_ulp_ops *ulp = casts_known ? ((const struct inet_connection_sock *)TYPED(tcp_sock, tp))->icsk_ulp_ops :
						icsk->icsk_ulp_ops;

	if (is_mptcp(tp))
		mptcp_layer_note(book, icsk->icsk_ulp_data);
	else if (ulp)
		book->layers |= layer_of_ulp(ulp);
	if (bpf_core_field_exists(smc->syn_smc) && BPF_CORE_READ_BITFIELD(smc, syn_smc))
		book->layers |= 1u << WATCH_LAYER_SMC;
	if (is_in_sockmap((const void *)tp))
		sockmap_note(book);
	if (BPF_CORE_READ_BITFIELD(tp, repair))
		book->layers |= 1u << WATCH_LAYER_REPAIR;
	if (is_used_by_kernel((const void *)tp))
		book->flags |= WATCH_IN_KERNEL;
}

#endif
