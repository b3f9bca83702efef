// SPDX-License-Identifier: GPL-2.0
/*
 * How payload reaches the reader: copied, mapped, spliced or discarded; and what each receive returned.
 *
 * The tracepoint of the copy and the functions that pass pages on run under the socket's lock, so an iterator
 * sees what they count in step with the sequence numbers.
 */
#include "bpf/include/datagram.bpf.h"
#include "bpf/include/sizes.bpf.h"
#include "bpf/include/tls.bpf.h"
#include "bpf/include/uncovered.bpf.h"
#include "bpf/include/user_stack.bpf.h"

#define MSG_OOB_FLAG 0x01
#define MSG_PEEK_FLAG 0x02
#define MSG_TRUNC_FLAG 0x20
#define MSG_ERRQUEUE_FLAG 0x2000
#define EFAULT_RET -14

/* Set before load. */
const volatile bool rx_copies_hooked __weak = false;	/* rx_copy will be attached */

/* @len bytes of a packet are copied. Pages of the user that are still referenced show by tracepoints alone. */
static __always_inline void copy_counted(const struct sk_buff *skb, u32 place, int len)
{
	struct books *b = bpf_map_lookup_elem(&details, &place);

	if (!b)
		return;
	add(&b->site[SITE_rx_copy].calls, 1);
	if (counts_by_tracepoint && uarg_of(skb))
		count(b, COUNT_user_referenced_bytes, len);
}

/* The eighth copy of a packet's bytes is lost on purpose. */
static __always_inline bool copy_is_lost(u32 place)
{
	const struct books *b = fault_inject == FAULT_LOSE_UPDATE ? bpf_map_lookup_elem(&details, &place) : NULL;

	return b && b->site[SITE_rx_copy].calls == 7;
}

/* Before the copy, for each packet that a reader takes bytes from; skb->sk is the owner, which TCP sets for every
 * skb of a receive queue (skb_set_owner_r). Reads of the error queue pass here with len 0, or with the payload
 * that it quotes, of a packet that is in no queue any more (sock_dequeue_err_skb). Whoever reads holds the socket's lock, so a plain add loses nothing; an atomic one costs as much
 * as the rest. */
SEC("?tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(rx_copy, const struct sk_buff *skb, int len)
{
	u64 cookie = cookie_of(POINTER_IN(sk_buff, skb, sk));
	struct slot_way *way;
	u32 place;

	/* The verifier wants one load for each kind of pointer. */
	barrier_var(cookie);
	if (len <= 0 || (cookie && !POINTER_IN(sk_buff, skb, next)))
		return 0;
	if (!cookie)
		cookie = cookie_of_tls_reader();
	way = way_find(cookie, &place);
	if (!way)
		return 0;
	if (details_wanted && !window_open())
		return 0;
	if (!copy_is_lost(place))
		way->rx_copied += len;
	if (details_wanted)
		copy_counted(skb, place, len);
	return 0;
}

/* Did all that left the socket leave by splices and by receives that have ended, of which rx_copy saw @copied bytes? */
static __always_inline bool left_by_receives(struct sock *sk, const struct watch_slot *slot, u64 copied)
{
	struct watch_book *book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct watch_reading now;

	if (!book || !tp)
		return false;
	reading_take(&now, tp, sk->__sk_common.skc_state);
	urgent_settle(&book->urgent, tp);
	return book->past_returned + returned_of(&now) - returned_of(&book->opened) - book->urgent.skipped +
		       book->urgent.read ==
	       copied - slot->rx_off - slot->rx_peeked + slot->rx_discarded + slot->rx_spliced;
}

/* What rx_copy saw since the receive before this one is held against what this one returned. A failed copy is
 * none of the stream, unless TCP_ZEROCOPY_RECEIVE may have copied before it; an urgent byte is copied elsewhere. Any
 * other difference is odd: a copy for TCP_ZEROCOPY_RECEIVE, or a call that failed halfway. Differences of two tasks
 * that read one socket at the same time even out. */
static __always_inline void receive_settle(struct sock *sk, struct slot_way *way, struct watch_slot *slot, int *ret,
					   int flags)
{
	u64 copied = way->rx_copied, before;
	s64 seen, told = *ret;

	if (flags & MSG_ERRQUEUE_FLAG)
		return;
	before = __sync_lock_test_and_set(&slot->rx_settled, copied);
	seen = before == WATCH_UNSETTLED ? copied : copied - before;
	if (told == EFAULT_RET) {
		if (seen && left_by_receives(sk, slot, copied - seen))
			__sync_fetch_and_add(&slot->rx_off, seen);
		else if (seen)
			__sync_fetch_and_add(&slot->rx_odd, (u32)seen);
		return;
	}
	if (told > 0 && flags & MSG_OOB_FLAG) {
		if (!(flags & MSG_TRUNC_FLAG))
			__sync_fetch_and_add(&slot->rx_off, -(u64)told);
		told = 0;
	}
	if (told < 0 || flags & MSG_TRUNC_FLAG)
		told = 0;
	if (seen == told)
		return;
	/* It may have begun before the window. */
	if (before == WATCH_UNSETTLED && seen < told)
		*ret = seen;
	else
		__sync_fetch_and_add(&slot->rx_odd, (u32)(seen - told));
}

/* Whatever puts a socket into a sockmap comes here. */
SEC("?fentry/sk_psock_init")
int BPF_PROG(psock_init, struct sock *sk)
{
	sockmap_seen(sk);
	return 0;
}

/* Where TCP is about to note an urgent byte; sockets of other families come here, too. */
SEC("?fentry/sk_send_sigurg")
int BPF_PROG(urgent_arrival, struct sock *sk)
{
	const struct tcp_sock *tp = is_tcp(sk) ? bpf_skc_to_tcp_sock(sk) : NULL;
	struct watch_book *book = tp ? bpf_sk_storage_get(&watch_books, sk, 0, 0) : NULL;

	if (book)
		urgent_arrives(&book->urgent, tp);
	return 0;
}

static __always_inline struct watch_book *urgent_book(struct sock *sk, const struct tcp_sock *tp)
{
	return tp && tp->urg_seq ? bpf_sk_storage_get(&watch_books, sk, 0, 0) : NULL;
}

/* @read: what recv(MSG_OOB) returned. */
static __always_inline void urgent_received(struct sock *sk, int read, bool locked)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct watch_book *book = urgent_book(sk, tp);

	if (!book)
		return;
	if (locked)
		urgent_settle_as(&book->urgent, tp, urgent_way(tp));
	else
		urgent_settle_unlocked(&book->urgent, tp);
	if (read > 0)
		__sync_fetch_and_add(&book->urgent.read, read);
}

/* What tcp_zc_handle_leftover() copies may go past the byte, wherever that is to be read. If it is to be read apart, it is
 * unsure: a receive of another process may have skipped it, and is told after it gave the lock back (6.3 and later). */
static __always_inline void urgent_mapped(struct sock *sk)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct watch_book *book = urgent_book(sk, tp);

	if (book)
		urgent_settle_as(&book->urgent, tp, URGENT_IN_LINE);
}

/* What Fast Open brought with the SYN was copied before there was a book. */
static __always_inline struct slot_way *received_early(struct sock *sk, int ret, u32 *place)
{
	struct watch_book *book = book_born_early(sk);
	struct slot_way *way = book ? way_of(book) : NULL;

	if (!way)
		return NULL;
	*place = book->slot_at - 1;
	way->rx_copied = ret;
	return way;
}

/* The witness: what the call returned of the stream. */
static __always_inline void receive_returned(struct watch_slot *slot, int ret, int flags)
{
	if (flags & MSG_PEEK_FLAG || !window_is_open)
		return;
	__sync_fetch_and_add(&slot->recv_calls, 1);
	__sync_fetch_and_add(&slot->recvs_returned, ret);
}

static __always_inline u32 way_of_receive(int flags)
{
	if (!(flags & (MSG_PEEK_FLAG | MSG_TRUNC_FLAG)))
		return CALL_RECV_PLAIN;
	return flags & MSG_PEEK_FLAG ? CALL_RECV_PEEK : CALL_RECV_DISCARD;
}

/* What it copied, also if that stays where it was, or threw away. */
static __always_inline void receive_stack(u32 place, const struct sock *sk, int bytes, int flags)
{
	bool peeks = flags & MSG_PEEK_FLAG;

	if (bytes <= 0 || (peeks && flags & MSG_TRUNC_FLAG))
		return;
	stack_count(place, sk, STACK_BY_RECEIVE, flags & MSG_TRUNC_FLAG ? SITE_rx_discard : SITE_rx_copy, bytes);
}

/* A call that receives has ended; @locked: it still holds the socket's lock. */
static __always_inline int receive_ended(struct sock *sk, int ret, int flags, bool locked)
{
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;
	int told = ret;

	if (is_in_sockmap(sk))
		sockmap_seen(sk);
	if (ret > 0)
		closed_socket_read(sk, locked);
	if (urgent_came)
		urgent_received(sk, (flags & (MSG_OOB_FLAG | MSG_PEEK_FLAG)) == MSG_OOB_FLAG ? ret : 0, locked);
	if (!rx_copies_hooked && (!(flags & (MSG_TRUNC_FLAG | MSG_PEEK_FLAG)) || ret <= 0))
		return 0;
	way = way_find(cookie_of(sk), &place);
	if (!way && ret > 0)
		way = received_early(sk, ret, &place);
	slot = way ? bpf_map_lookup_elem(&slots, &place) : NULL;
	/* Those of TLS end elsewhere, and not all of them copy. */
	if (!slot || slot->tls & SLOT_TLS_RECEIVES)
		return 0;
	if (rx_copies_hooked)
		receive_settle(sk, way, slot, &ret, flags);
	if (flags & MSG_ERRQUEUE_FLAG) {
		if (readings_told && told >= 0)
			holds_read(sk, slot);
		return 0;
	}
	if (sizes_wanted)
		call_sized(slot, way_of_receive(flags), told);
	if (calls_wanted && told > 0)
		receive_returned(slot, told, flags);
	receive_stack(place, sk, told, flags);
	if (ret <= 0)
		return 0;
	if (flags & MSG_TRUNC_FLAG && !(flags & MSG_PEEK_FLAG)) {
		__sync_fetch_and_add(&slot->discards, 1);
		__sync_fetch_and_add(&slot->rx_discarded, ret);
	} else if (flags & MSG_PEEK_FLAG && !(flags & MSG_TRUNC_FLAG)) {
		__sync_fetch_and_add(&slot->rx_peeked, ret);
	}
	return 0;
}

/* In place of the room, where the datagram stays in the queue. */
#define ROOM_OF_PEEK (~0ull)

/* pid_tgid -> room in the buffer of the receive of datagrams that is under way. In a watch the slot has that of one
 * task, and this table those of others beside it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u64);
} receiving SEC(".maps");

/* Is the place in the slot this task's? It may have left it there: not every end of a call was seen. */
static __always_inline bool receiver_becomes(struct watch_slot *slot, u64 task)
{
	return slot->receiver == task || !__sync_val_compare_and_swap(&slot->receiver, 0, task);
}

/* The table of a watch has those under way alone: it has any number of tasks. */
static __always_inline void datagram_awaited(struct watch_slot *slot, u64 room)
{
	u64 task = bpf_get_current_pid_tgid();

	__sync_fetch_and_add(&slot->moves, 1);
	__sync_fetch_and_add(&slot->under_way, 1);
	if (receiver_becomes(slot, task))
		slot->room = room;
	else if (bpf_map_update_elem(&receiving, &task, &room, BPF_ANY))
		__sync_fetch_and_add(&slot->rx_odd, 1);
}

/* Of the current task's receive; NULL: its begin was not seen. */
static __always_inline u64 *room_of(struct watch_slot *slot)
{
	return datagrams_watch && slot->receiver == bpf_get_current_pid_tgid() ? &slot->room : task_noted(&receiving);
}

static __always_inline void receiver_ends(struct watch_slot *slot)
{
	u64 task = bpf_get_current_pid_tgid();

	if (slot->receiver == task)
		slot->receiver = 0;
	else
		bpf_map_delete_elem(&receiving, &task);
}

static __always_inline int datagram_receive_begins(struct sock *sk, u64 size, int flags)
{
	u64 room = flags & MSG_PEEK_FLAG ? ROOM_OF_PEEK : size;
	struct watch_slot *slot;
	u32 place;

	slot = datagram_slot(sk, &place);
	if (!slot)
		return 0;
	if (datagrams_watch)
		datagram_awaited(slot, room);
	else if (window_open())
		task_note(&receiving, room);
	return 0;
}

SEC("?fentry/udp_recvmsg")
int BPF_PROG(datagram_receive_enter, struct sock *sk, struct msghdr *msg, size_t size, int flags)
{
	return datagram_receive_begins(sk, size, flags);
}

SEC("?fentry/udpv6_recvmsg")
int BPF_PROG(datagram_receive_enter_v6, struct sock *sk, struct msghdr *msg, size_t size, int flags)
{
	return datagram_receive_begins(sk, size, flags);
}

/* Several tasks may read a UDP socket at the same time. */
static __always_inline void datagram_copied(struct slot_way *way, struct watch_slot *slot, u32 place, u64 copied,
					    u64 left)
{
	struct books *b = details_wanted ? bpf_map_lookup_elem(&details, &place) : NULL;

	if (!copy_is_lost(place))
		__sync_fetch_and_add(&way->rx_copied, copied);
	if (datagrams_watch && left)
		__sync_fetch_and_add(&slot->rx_cut, left);
	if (!b)
		return;
	add(&b->site[SITE_rx_copy].calls, 1);
	if (left)
		count(b, COUNT_truncated_bytes, left);
}

/* A datagram was copied to the reader as far as there was room, and is thrown away. A linear one is copied where
 * nothing can be hooked (copy_linear_skb). @len is less than 0 where the reader leaves it in the queue (peek), and 0 if
 * it had no room either: recv(fd, NULL, 0, MSG_PEEK). */
SEC("?fentry/skb_consume_udp")
int BPF_PROG(datagram_taken, struct sock *sk, struct sk_buff *skb, int len)
{
	u64 bytes = skb->len, copied = bytes, *room;
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;

	if (len < 0 || (!datagrams_watch && !window_open()))
		return 0;
	way = way_find(cookie_of(sk), &place);
	slot = way ? bpf_map_lookup_elem(&slots, &place) : NULL;
	if (!slot || !bytes)
		return 0;
	room = room_of(slot);
	if ((!len && room && *room == ROOM_OF_PEEK) || is_lost(FAULT_LOSE_TAKEN))
		return 0;
	if (room && *room < bytes)
		copied = *room;
	datagram_copied(way, slot, place, copied, bytes - copied);
	return 0;
}

/* What a peek copied stays in the queue. A failed copy takes its datagram along. */
static __always_inline void datagram_told(struct slot_way *way, struct watch_slot *slot, int bytes, int flags)
{
	if (bytes == EFAULT_RET)
		__sync_fetch_and_add(&slot->rx_odd, 1);
	/* MSG_TRUNC discards nothing of a datagram. */
	if (sizes_wanted && !(flags & MSG_ERRQUEUE_FLAG))
		call_sized(slot, flags & MSG_PEEK_FLAG ? CALL_RECV_PEEK : CALL_RECV_PLAIN, bytes);
	if (bytes <= 0 || flags & MSG_ERRQUEUE_FLAG)
		return;
	if (!(flags & MSG_PEEK_FLAG)) {
		__sync_fetch_and_add(&slot->recv_calls, 1);
		__sync_fetch_and_add(&slot->recvs_returned, bytes);
		return;
	}
	__sync_fetch_and_add(&slot->rx_peeked, bytes);
	__sync_fetch_and_add(&way->rx_copied, bytes);
}

/* Without trampolines a call with MSG_TRUNC tells more than was copied. */
static __always_inline void datagram_stack(u32 place, const struct sock *sk, int bytes, int flags)
{
	bool told = counts_by_tracepoint && flags & MSG_TRUNC_FLAG;
	u32 program = counts_by_tracepoint ? STACK_BY_RECEIVE :
		      sk->__sk_common.skc_family == AF_INET6_FAMILY ? STACK_BY_DATAGRAM_RECEIVE_V6 :
								      STACK_BY_DATAGRAM_RECEIVE;

	if (bytes > 0 && !(flags & MSG_ERRQUEUE_FLAG))
		stack_count(place, sk, program, told ? WATCH_RETURNED : SITE_rx_copy, bytes);
}

static __always_inline int datagram_receive_ended(struct sock *sk, int ret, u64 room, int flags)
{
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;

	way = way_find(cookie_of(sk), &place);
	slot = way ? bpf_map_lookup_elem(&slots, &place) : NULL;
	if (!slot)
		return 0;
	receiver_ends(slot);
	if (ret > 0 && (u64)ret > room)
		ret = room;
	datagram_told(way, slot, ret, flags);
	datagram_stack(place, sk, ret, flags);
	__sync_fetch_and_add(&slot->under_way, -1);
	__sync_fetch_and_add(&slot->moves, 1);
	return 0;
}

/* With MSG_TRUNC the call returns how long the datagram was. */
static __always_inline int datagram_received(struct sock *sk, int ret, u64 room, int flags)
{
	struct watch_slot *slot;

	if (datagrams_watch)
		return datagram_receive_ended(sk, ret, room, flags);
	slot = ret > 0 && !(flags & MSG_ERRQUEUE_FLAG) ? slot_find(cookie_of(sk)) : NULL;
	if (slot)
		receive_returned(slot, (u64)ret > room ? (int)room : ret, flags);
	return 0;
}

SEC("?fexit/udp_recvmsg")
int BPF_PROG(datagram_receive_exit_5, struct sock *sk, struct msghdr *msg, size_t size, int flags, int *addr_len,
	     int ret)
{
	return datagram_received(sk, ret, size, flags);
}

SEC("?fexit/udpv6_recvmsg")
int BPF_PROG(datagram_receive_exit_v6_5, struct sock *sk, struct msghdr *msg, size_t size, int flags, int *addr_len,
	     int ret)
{
	return datagram_received(sk, ret, size, flags);
}

/* The address' length went. */
SEC("?fexit/udp_recvmsg")
int BPF_PROG(datagram_receive_exit_4, struct sock *sk, struct msghdr *msg, size_t size, int flags, int ret)
{
	return datagram_received(sk, ret, size, flags);
}

SEC("?fexit/udpv6_recvmsg")
int BPF_PROG(datagram_receive_exit_v6_4, struct sock *sk, struct msghdr *msg, size_t size, int flags, int ret)
{
	return datagram_received(sk, ret, size, flags);
}

/* Without trampolines: what a receive returned was copied, unless it returned how long the datagram was. */
static __always_inline int datagram_call_watched(struct sock *sk, int ret, int flags)
{
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;

	slot = datagram_slot(sk, &place);
	way = slot ? way_find(cookie_of(sk), &place) : NULL;
	if (!way)
		return 0;
	if (ret > 0 && flags & MSG_TRUNC_FLAG)
		__sync_fetch_and_add(&slot->rx_odd, 1);
	if (ret > 0 && !(flags & (MSG_PEEK_FLAG | MSG_ERRQUEUE_FLAG)))
		__sync_fetch_and_add(&way->rx_copied, ret);
	datagram_told(way, slot, ret, flags);
	datagram_stack(place, sk, ret, flags);
	return 0;
}

/* Without trampolines: what a receive returned was copied. */
static __always_inline int datagram_call(struct sock *sk, int ret, int flags)
{
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;

	slot = datagram_slot(sk, &place);
	if (!slot || ret <= 0 || flags & (MSG_PEEK_FLAG | MSG_ERRQUEUE_FLAG) ||
	    !window_open())
		return 0;
	way = way_find(cookie_of(sk), &place);
	if (way)
		datagram_copied(way, slot, place, ret, 0);
	receive_returned(slot, ret, flags);
	return 0;
}

/* The call has given the lock back. */
SEC("?tp_btf/sock_recv_length")
int BPF_PROG(receive_call, struct sock *sk, int ret, int flags)
{
	if (is_tcp(sk))
		return receive_ended(sk, ret, flags, false);
	if (!is_udp(sk)) {
		if (opened_by_walk)
			uncovered_received(sk, ret);
		return 0;
	}
	if (!datagrams_wanted || !counts_by_tracepoint)
		return 0;
	return datagrams_watch ? datagram_call_watched(sk, ret, flags) : datagram_call(sk, ret, flags);
}

/* Under the lock, and where there is no such tracepoint, before 6.3 (6e6eda44b939, "sock: add tracepoint for send
 * recv length"). */
SEC("?fexit/tcp_recvmsg_locked")
int BPF_PROG(receive_exit, struct sock *sk, struct msghdr *msg, size_t size, int flags,
	     struct scm_timestamping_internal *tss, int *cmsg_flags, int ret)
{
	return receive_ended(sk, ret, flags, true);
}

/* Of each packet, within tcp_splice_read() and under the lock, unlike that. tcp_read_sock() between the
 * two may be a copy of it that the compiler made for this caller, and is never entered. */
SEC("?fexit/skb_splice_bits")
int BPF_PROG(splice_read, struct sk_buff *skb, struct sock *sk, unsigned int offset,
	     struct pipe_inode_info *pipe, unsigned int most, unsigned int flags, int ret)
{
	struct watch_slot *slot;
	u32 place;

	slot = ret > 0 ? slot_at(cookie_of(sk), &place) : NULL;
	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->splice_reads, 1);
	__sync_fetch_and_add(&slot->rx_spliced, ret);
	stack_count(place, sk, STACK_BY_SPLICE, SITE_rx_splice, ret);
	return 0;
}

/* The whole call, which may pass the function above many times. */
SEC("?fexit/tcp_splice_read")
int BPF_PROG(splice_call, struct socket *socket, void *at, struct pipe_inode_info *pipe, size_t most,
	     unsigned int flags, long ret)
{
	struct watch_slot *slot = sizes_wanted ? slot_find(cookie_of(socket->sk)) : NULL;

	if (slot)
		call_sized(slot, CALL_RECV_SPLICE, ret);
	return 0;
}

/* The caller holds the socket's lock. Without an error .length is what was mapped, with one what the process asked
 * for. */
SEC("?fexit/tcp_zerocopy_receive")
int BPF_PROG(receive_map, struct sock *sk, struct tcp_zerocopy_receive *zc,
	     struct scm_timestamping_internal *tss, int ret)
{
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;

	if (urgent_came)
		urgent_mapped(sk);
	way = ret ? NULL : way_find(cookie_of(sk), &place);
	slot = way ? bpf_map_lookup_elem(&slots, &place) : NULL;
	if (!slot || !found_bytes(zc))
		return 0;
	__sync_fetch_and_add(&slot->map_calls, 1);
	__sync_fetch_and_add(&slot->rx_mapped, zc->length);
	if (sizes_wanted)
		call_sized(slot, CALL_RECV_MAP, zc->length);
	if (zc->length)
		stack_count(place, sk, STACK_BY_MAP, SITE_rx_map, zc->length);
	/* receive_fallback_to_copy() calls tcp_recvmsg_locked(), which has told where its exit is hooked. */
	if (zc->copybuf_len > 0 && way->rx_copied != slot->rx_settled)
		stack_count(place, sk, STACK_BY_MAP, SITE_rx_copy, zc->copybuf_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
