// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves the socket: payload in kernel memory or in referenced user pages, and how much of
 * it for a second time. Used by both backends.
 *
 * net_dev_queue rather than net_dev_start_xmit: before a queue can drop the packet, and before it
 * is cut or made linear for a device that cannot gather, after which user pages look copied. An
 * skb whose pages are the user's carries SKBFL_ZEROCOPY_ENABLE; all its frags are the user's,
 * because our senders never mix the two kinds in one socket.
 */
#include "bpf/gate.bpf.h"

SEC("?tp_btf/net_dev_queue")
int BPF_PROG(wire, const struct sk_buff *skb)
{
	u32 bytes, referenced;
	struct books *b;

	note_seen(SEEN_WIRE);
	if (!window_open())
		return 0;
	b = books_find(cookie_of(skb->sk));
	if (!b)
		return 0;
	bytes = payload_bytes(skb);
	if (uarg_of(skb)) {
		referenced = skb->data_len;
		count(b, COUNT_wire_referenced_bytes, referenced);
		count(b, COUNT_wire_referenced_pages, BPF_CORE_READ(shinfo_of(skb), nr_frags));
		bytes = bytes > referenced ? bytes - referenced : 0;
	}
	if (bytes)
		count(b, COUNT_wire_copied_bytes, bytes);
	return 0;
}

/* The skb of the retransmit queue: no headers, so len is payload. */
static __always_inline int retransmitted(const struct sock *sk, const struct sk_buff *skb)
{
	struct books *b = books_find(cookie_of(sk));
	u32 copied = skb->len;

	if (!b)
		return 0;
	if (uarg_of(skb)) {
		count(b, COUNT_retrans_referenced_bytes, skb->data_len);
		count(b, COUNT_retrans_referenced_pages, BPF_CORE_READ(shinfo_of(skb), nr_frags));
		copied -= skb->data_len;
	}
	if (copied)
		count(b, COUNT_retrans_copied_bytes, copied);
	return 0;
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(retransmit_2, const struct sock *sk, const struct sk_buff *skb)
{
	note_seen(SEEN_RETRANSMIT);
	return window_open() ? retransmitted(sk, skb) : 0;
}

/* 6.16 traces failed retransmissions too, with their error. */
SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(retransmit_3, const struct sock *sk, const struct sk_buff *skb, int err)
{
	note_seen(SEEN_RETRANSMIT);
	return window_open() && !err ? retransmitted(sk, skb) : 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
