// SPDX-License-Identifier: GPL-2.0
/*
 * How bytes enter a socket and leave it: copied, referenced, spliced; copied to the reader or not.
 *
 * Both hooks run under the socket's lock, so an iterator sees what they count in step with the
 * sequence numbers. A plain send is told apart by two loads while nothing else was ever seen.
 */
#include "bpf/watch/census.bpf.h"

#define MSG_SPLICE_PAGES_FLAG 0x8000000
#define MSG_FASTOPEN_FLAG 0x20000000
#define MSG_OOB_FLAG 0x01
#define MSG_PEEK_FLAG 0x02
#define MSG_TRUNC_FLAG 0x20
#define MSG_ERRQUEUE_FLAG 0x2000
#define EFAULT_RET -14
#define NETIF_F_SG_FLAG 1 /* include/linux/netdev_features.h, the first bit */

/* Set before load: watch_rx_copy will be attached. */
const volatile bool rx_copies_hooked __weak = false;

/* Since a send referenced or spliced pages, each send is looked at. */
volatile __u32 unusual_seen __weak = 0;

/* The socket leaves its sockmap before it closes. */
static __always_inline void sockmap_seen(struct sock *sk)
{
	struct watch_book *book = bpf_sk_storage_get(&watch_books, sk, 0, 0);

	if (book)
		sockmap_note(book);
}

/* As tcp_sendmsg_locked() decides before its loop: MSG_ZEROCOPY needs SO_ZEROCOPY or a notification of
 * io_uring's, and a route that takes packets in pieces. A call that connects by MSG_FASTOPEN has no route then. */
static __always_inline u32 kind_of_send(const struct sock *sk, const struct msghdr *msg)
{
	u32 flags = msg->msg_flags;

	if (!(sk->sk_route_caps & NETIF_F_SG_FLAG) || flags & MSG_FASTOPEN_FLAG)
		return WATCH_KIND_COPY;
	if (flags & MSG_ZEROCOPY_FLAG) {
		bool ring = bpf_core_field_exists(msg->msg_ubuf) && msg->msg_ubuf;
		bool asked = sk->__sk_common.skc_flags >>
				     bpf_core_enum_value(enum sock_flags, SOCK_ZEROCOPY) & 1;

		return ring || asked ? WATCH_KIND_REFERENCE : WATCH_KIND_COPY;
	}
	return flags & MSG_SPLICE_PAGES_FLAG ? WATCH_KIND_SPLICE : WATCH_KIND_COPY;
}

/* Each turn of the send loop comes here before it adds bytes, and all turns of a call are of one kind:
 * what was added since the kind changed is of the kind that it had. */
SEC("?tp_btf/tcp_sendmsg_locked")
int BPF_PROG(watch_send_turn, struct sock *sk, struct msghdr *msg)
{
	const struct tcp_sock *tp;
	struct watch_slot *slot;
	u64 cookie;
	u32 kind;

	if (!(msg->msg_flags & (MSG_ZEROCOPY_FLAG | MSG_SPLICE_PAGES_FLAG)) && !unusual_seen)
		return 0;
	cookie = cookie_of(sk);
	slot = slot_of_sender(sk);
	if (!slot)
		return 0;
	if (is_in_sockmap(sk))
		sockmap_seen(sk);
	kind = kind_of_send(sk, msg);
	if (kind == WATCH_KIND_REFERENCE)
		note_ring_send(msg, cookie, slot);
	if (kind != WATCH_KIND_COPY)
		pages_note(slot, sk);
	if (kind == slot->kind)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	unusual_seen = 1;
	slot_charge(slot, accepted_of(tp));
	slot->kind = kind;
	return 0;
}

/* Before the copy, for each packet that a reader takes bytes from. Reads of the error queue pass here
 * with len 0, or with the payload that it quotes. Whoever reads holds the socket's lock, so a plain add
 * loses nothing; an atomic one costs as much as the rest. */
SEC("?tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(watch_rx_copy, const struct sk_buff *skb, int len)
{
	struct slot_way *way;
	u32 place;

	if (len <= 0)
		return 0;
	way = way_find(cookie_of(skb->sk), &place);
	if (way)
		way->rx_copied += len;
	return 0;
}

/* What watch_rx_copy saw since the receive before this one is held against what this one returned. A failed copy
 * and what the error queue quotes are no bytes of the stream; an urgent byte is copied elsewhere. Any other
 * difference is odd: a copy for TCP_ZEROCOPY_RECEIVE, or a call that failed halfway. Differences of two tasks
 * that read one socket at the same time even out. */
static __always_inline void receive_settle(struct slot_way *way, struct watch_slot *slot, int *ret, int flags)
{
	u64 copied = way->rx_copied, before;
	s64 seen, told = *ret;

	before = __sync_lock_test_and_set(&slot->rx_settled, copied);
	seen = before == WATCH_UNSETTLED ? copied : copied - before;
	if (flags & MSG_ERRQUEUE_FLAG || told == EFAULT_RET) {
		if (seen)
			__sync_fetch_and_add(&slot->rx_off, seen);
		return;
	}
	if (told > 0 && flags & MSG_OOB_FLAG) {
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
int BPF_PROG(watch_psock, struct sock *sk)
{
	sockmap_seen(sk);
	return 0;
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

/* A call that receives has ended. */
static __always_inline int receive_ended(struct sock *sk, int ret, int flags)
{
	struct watch_slot *slot;
	struct slot_way *way;
	u32 place;

	if (!is_tcp(sk))
		return 0;
	if (is_in_sockmap(sk))
		sockmap_seen(sk);
	if (!rx_copies_hooked && (!(flags & (MSG_TRUNC_FLAG | MSG_PEEK_FLAG)) || ret <= 0))
		return 0;
	way = way_find(cookie_of(sk), &place);
	if (!way && ret > 0)
		way = received_early(sk, ret, &place);
	slot = way ? bpf_map_lookup_elem(&slots, &place) : NULL;
	if (!slot)
		return 0;
	if (rx_copies_hooked)
		receive_settle(way, slot, &ret, flags);
	if (flags & MSG_ERRQUEUE_FLAG || ret <= 0)
		return 0;
	if (flags & MSG_TRUNC_FLAG && !(flags & MSG_PEEK_FLAG))
		__sync_fetch_and_add(&slot->rx_discarded, ret);
	else if (flags & MSG_PEEK_FLAG && !(flags & (MSG_TRUNC_FLAG | MSG_OOB_FLAG)))
		__sync_fetch_and_add(&slot->rx_peeked, ret);
	return 0;
}

/* The call has given the lock back. */
SEC("?tp_btf/sock_recv_length")
int BPF_PROG(watch_receive, struct sock *sk, int ret, int flags)
{
	return receive_ended(sk, ret, flags);
}

/* For kernels without that tracepoint, before 6.3 (6e6eda44b939, "sock: add tracepoint for send recv length"). */
SEC("?fexit/tcp_recvmsg_locked")
int BPF_PROG(watch_receive_exit, struct sock *sk, struct msghdr *msg, size_t size, int flags,
	     struct scm_timestamping_internal *tss, int *cmsg_flags, int ret)
{
	return receive_ended(sk, ret, flags);
}

char LICENSE[] SEC("license") __weak = "GPL";
