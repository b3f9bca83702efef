// SPDX-License-Identifier: GPL-2.0
/*
 * How bytes enter a socket and leave it: copied, referenced, spliced; copied to the reader or not.
 *
 * Both hooks run under the socket's lock, so an iterator sees what they count in step with the
 * sequence numbers. A plain send is told apart by two loads while nothing else was ever seen.
 */
#include "bpf/watch/book.bpf.h"

#define MSG_SPLICE_PAGES_FLAG 0x8000000
#define NETIF_F_SG_FLAG 1 /* include/linux/netdev_features.h, the first bit */

/* Since a send referenced or spliced pages, each send is looked at. */
volatile __u32 unusual_seen __weak = 0;

/* As tcp_sendmsg_locked() decides before its loop: MSG_ZEROCOPY needs SO_ZEROCOPY or a notification of
 * io_uring's, and a route that takes packets in pieces. */
static __always_inline u32 kind_of_send(const struct sock *sk, const struct msghdr *msg)
{
	u32 flags = msg->msg_flags;

	if (!(sk->sk_route_caps & NETIF_F_SG_FLAG))
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
	slot = slot_find(cookie);
	if (!slot)
		return 0;
	kind = kind_of_send(sk, msg);
	if (kind == WATCH_KIND_REFERENCE) {
		note_ring_send(msg, cookie);
		reference_note(slot, sk);
	}
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
 * with len 0, or with an skb that TCP does not own. Whoever reads holds the socket's lock, so a plain add
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

char LICENSE[] SEC("license") __weak = "GPL";
