// SPDX-License-Identifier: GPL-2.0
/*
 * What a watch counts of UDP sockets beside what their calls return: when they begin and end, what is queued for
 * their readers, what is dropped, what IP is given.
 *
 * Programs of control groups tell of begins and ends: no tracepoint does. They are attached to the root, so that
 * sockets of all tasks pass them, once each. All other hooks here are in functions of UDP.
 */
#include "bpf/include/datagram.bpf.h"

/* Set before load: the tracepoint tells which socket a packet was dropped for. */
const volatile bool drops_traced __weak = false;

SEC("?cgroup/sock_create")
int datagram_made(struct bpf_sock *ctx)
{
	if (ctx->protocol == IPPROTO_UDP_NUMBER)
		datagram_begin((void *)ctx, true);
	return 1;
}

/* No call uses the socket any more. What lies in its queue is lost with it. */
static __always_inline void datagram_ends(struct sock *sk)
{
	struct watch_book *book = bpf_sk_storage_get(&watch_books, sk, 0, 0);

	/* It came to the subject from elsewhere, and may have been used. */
	if (!book && datagrams_watched == DATAGRAMS_AWAITED && datagram_may_begin(sk))
		book = datagram_used_early(sk);
	if (!book || book->flags & WATCH_DIED)
		return;
	census_end(book);
	datagram_reading(book, sk);
	owner_note_holder(book);
	book->flags |= WATCH_DIED;
	if (book_is_ours(book))
		death_tell(book);
	slot_give_back(book);
}

SEC("?cgroup/sock_release")
int datagram_released(struct bpf_sock *ctx)
{
	if (ctx->protocol == IPPROTO_UDP_NUMBER && fault_inject != FAULT_SKIP_ENDS)
		datagram_ends((void *)ctx);
	return 1;
}

/* Programs of control groups may drop no storage. This comes after them. */
SEC("?fentry/sk_common_release")
int BPF_PROG(datagram_dropped, struct sock *sk)
{
	if (is_udp(sk))
		book_drop(sk);
	return 0;
}

/* The header is gone. */
SEC("?fentry/__udp_enqueue_schedule_skb")
int BPF_PROG(datagram_queue_enter, struct sock *sk, struct sk_buff *skb)
{
	struct watch_slot *slot = slot_find(cookie_of(sk));

	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->moves, 1);
	__sync_fetch_and_add(&slot->under_way, 1);
	if (skb->len && !is_lost(FAULT_LOSE_QUEUED))
		__sync_fetch_and_add(&slot->rx_queued, skb->len);
	return 0;
}

/* Of what was queued nothing is read: a reader may have it by now. */
SEC("?fexit/__udp_enqueue_schedule_skb")
int BPF_PROG(datagram_queue_exit, struct sock *sk, struct sk_buff *skb, int ret)
{
	struct watch_slot *slot = slot_find(cookie_of(sk));

	if (!slot)
		return 0;
	if (ret) {
		__sync_fetch_and_add(&slot->rx_queued, -(u64)skb->len);
		__sync_fetch_and_add(&slot->rx_refused, 1);
		if (!drops_traced)
			__sync_fetch_and_add(&slot->rx_dropped, skb->len);
	}
	__sync_fetch_and_add(&slot->under_way, -1);
	__sync_fetch_and_add(&slot->moves, 1);
	return 0;
}

/* Since 6.11 (c53795d48ee8, "net: add rx_sk to trace_kfree_skb"). */
SEC("?tp_btf/kfree_skb")
int BPF_PROG(datagram_drop, const struct sk_buff *skb, const void *location, u32 reason, const struct sock *rx_sk)
{
	struct watch_slot *slot;
	u32 headers;

	if (!rx_sk || !is_udp(rx_sk))
		return 0;
	slot = slot_find(cookie_of(rx_sk));
	headers = datagram_header_bytes(skb);
	if (slot && skb->len > headers)
		__sync_fetch_and_add(&slot->rx_dropped, skb->len - headers);
	return 0;
}

static __always_inline int datagram_handed(const struct sk_buff *skb)
{
	const struct sock *sk = POINTER_IN(sk_buff, skb, sk);
	struct watch_slot *slot = sk && is_udp(sk) ? slot_find(cookie_of(sk)) : NULL;
	u32 headers = datagram_header_bytes(skb);

	if (slot && skb->len > headers && !is_lost(FAULT_LOSE_HANDED))
		__sync_fetch_and_add(&slot->handed_over, skb->len - headers);
	return 0;
}

/* Of a whole datagram, or of several that will be cut apart (UDP_SEGMENT): their header stands once. */
SEC("?fentry/ip_send_skb")
int BPF_PROG(datagram_handed_v4, struct net *net, struct sk_buff *skb)
{
	return datagram_handed(skb);
}

SEC("?fentry/ip6_send_skb")
int BPF_PROG(datagram_handed_v6, struct sk_buff *skb)
{
	return datagram_handed(skb);
}

char LICENSE[] SEC("license") __weak = "GPL";
