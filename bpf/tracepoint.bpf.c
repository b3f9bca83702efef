// SPDX-License-Identifier: GPL-2.0
/*
 * The other backend, for kernels that refuse trampolines: the same books from tp_btf programs.
 *
 * Tracepoints see calls, packets and arrivals, but not the copies inside: late copies are derived
 * from skbs that arrive with user pages and are read without them.
 */
#include "bpf/include/gate.bpf.h"
#include "bpf/include/send_flags.bpf.h"

/* Beside the flags of a send. */
#define SEND_COPIES (1ull << 32) /* it asked for zero copy and copies: see must_copy() */
#define SEND_OVER (1ull << 33)

/* pid_tgid -> flags of the send under way: sock_send_length is not given them */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} send_flags SEC(".maps");

/* Fires on each turn of the send loop, before the first skb leaves; not a byte counter. */
SEC("?tp_btf/tcp_sendmsg_locked")
int BPF_PROG(send_turn, struct sock *sk, struct msghdr *msg)
{
	u64 *turn;

	if (!window_open() || !book_is_open(sk))
		return 0;
	turn = task_noted(&send_flags);
	if (turn && !(*turn & SEND_OVER))
		return 0;
	task_note(&send_flags, msg->msg_flags | (must_copy(sk, msg->msg_flags) ? SEND_COPIES : 0));
	return 0;
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(send_length, struct sock *sk, int ret, int flags)
{
	bool copies = false;
	u64 *turn;

	if (!window_open() || !is_tcp(sk) || !book_is_open(sk))
		return 0;
	/* A send refused before its first turn leaves the flags of the one before: the same
	 * variant's, so the same. Where none was before, TCP says ENOBUFS to a zero-copy send only
	 * (net/ipv4/tcp.c; Fast Open as well, when the kernel is out of memory). */
	turn = task_noted(&send_flags);
	if (turn) {
		flags = *turn;
		copies = *turn & SEND_COPIES && !(*turn & SEND_OVER);
		*turn |= SEND_OVER;
	} else if (ret == ENOBUFS_RET) {
		flags |= MSG_ZEROCOPY_FLAG;
	}
	count_send(books_find(cookie_of(sk)), sk, flags, copies, ret);
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(recv_length, struct sock *sk, int ret, int flags)
{
	struct books *b;

	if (!window_open() || ret <= 0 || !is_tcp(sk) || !book_is_open(sk))
		return 0;
	b = books_find(cookie_of(sk));
	count(b, COUNT_recv_calls, 1);
	count(b, COUNT_returned_bytes, ret);
	return 0;
}

/* Fires before the copy. Reads of the error queue pass here with len 0, or with an skb that
 * TCP does not own. */
SEC("?tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(copy_to_user, const struct sk_buff *skb, int len)
{
	struct sock *sk;
	struct books *b;

	if (!window_open() || len <= 0)
		return 0;
	sk = skb->sk;
	if (!sk || !is_tcp(sk))
		return 0;
	b = books_find(cookie_of(sk));
	/* The helper makes no cookie for a pointer that was read from an skb. */
	if (!b && task_is_ours())
		b = books_open(sk, cookie_of(sk));
	if (!b)
		return 0;
	site_add(b, SITE_rx_copy, len);
	if (uarg_of(skb))
		count(b, COUNT_user_referenced_bytes, len);
	return 0;
}

struct passed {
	u64 cookie;
	u64 bytes;
};

/* skb with user pages that arrived and was passed on to a device. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct passed);
} passed_on SEC(".maps");

/* An skb that arrives with user pages. The reader found none of them (copy_to_user would have
 * counted them), so the kernel copied them on its way to the socket. */
SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(arrival, struct sk_buff *skb)
{
	u64 key = (u64)skb;
	struct books *b;

	note_seen(SEEN_ARRIVAL);
	if (!window_open())
		return 0;
	b = books_of_pages(skb);
	if (!b)
		return 0;
	/* The kernel reuses the memory of an skb. */
	bpf_map_delete_elem(&passed_on, &key);
	site_add(b, SITE_late_copy, skb->data_len);
	return 0;
}

/* Handed to a device in user pages: no copy was made on the way there. The kernel sets skb_iif right after
 * it tells of the arrival. No later hook will do: most drivers free what they sent as consumed, and
 * vmxnet3 moves short payloads out of their pages first. */
SEC("?tp_btf/net_dev_start_xmit")
int BPF_PROG(arrival_forwarded, const struct sk_buff *skb, const struct net_device *dev)
{
	u64 uarg, key = (u64)skb;
	struct passed passed = { .bytes = skb->data_len };
	struct books *b;

	if (!window_open() || !skb->skb_iif || !dev->dev.parent)
		return 0;
	uarg = uarg_of(skb);
	passed.cookie = uarg ? cookie_of_uarg(uarg) : 0;
	b = books_find(passed.cookie);
	if (!b)
		return 0;
	add(&b->site[SITE_late_copy].bytes, -passed.bytes);
	if (bpf_map_update_elem(&passed_on, &key, &passed, BPF_ANY))
		note_lost_update();
	return 0;
}

/* A busy device gets it again later. Only the address of the skb is used: it may be freed by now. */
SEC("?tp_btf/net_dev_xmit")
int BPF_PROG(arrival_held, struct sk_buff *skb, int rc)
{
	u64 key = (u64)skb;
	struct passed *passed;
	struct books *b;

	if (rc != NETDEV_TX_BUSY)
		return 0;
	passed = bpf_map_lookup_elem(&passed_on, &key);
	b = passed ? books_find(passed->cookie) : NULL;
	if (!b)
		return 0;
	add(&b->site[SITE_late_copy].bytes, passed->bytes);
	bpf_map_delete_elem(&passed_on, &key);
	return 0;
}

/* Nor was one if it was dropped before that, still in user pages. */
SEC("?tp_btf/kfree_skb")
int BPF_PROG(arrival_dropped, const struct sk_buff *skb)
{
	u64 key = (u64)skb;
	struct books *b;

	if (!window_open() || !skb->skb_iif || !bpf_map_delete_elem(&passed_on, &key))
		return 0;
	b = books_of_pages(skb);
	if (b)
		add(&b->site[SITE_late_copy].bytes, -(u64)skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
