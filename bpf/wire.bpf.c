// SPDX-License-Identifier: GPL-2.0
/*
 * What leaves the socket: payload in kernel memory or in referenced user pages, and how much of
 * it not for the first time. Used by both backends.
 *
 * net_dev_queue rather than net_dev_start_xmit: before a queue can drop the packet, and before it
 * is cut or made linear for a device that cannot gather, after which user pages look copied. An
 * skb whose pages are the user's carries SKBFL_ZEROCOPY_ENABLE; all its frags are the user's,
 * because our senders never mix the two kinds in one socket. What is linear comes first.
 */
#include "bpf/include/again.bpf.h"

static __always_inline void count_copied(struct books *b, u32 bytes, u32 first)
{
	if (!bytes)
		return;
	count(b, COUNT_wire_copied_bytes, bytes);
	if (bytes != first)
		count(b, COUNT_retrans_copied_bytes, bytes - first);
}

/* A packet's pages count as sent again if all of its bytes were. */
static __always_inline void count_referenced(struct books *b, const struct sk_buff *skb, u32 bytes,
					     u32 first)
{
	u8 pages = BPF_CORE_READ(shinfo_of(skb), nr_frags);

	count(b, COUNT_wire_referenced_bytes, bytes);
	count(b, COUNT_wire_referenced_pages, pages);
	if (bytes == first)
		return;
	count(b, COUNT_retrans_referenced_bytes, bytes - first);
	if (!first)
		count(b, COUNT_retrans_referenced_pages, pages);
}

SEC("?tp_btf/net_dev_queue")
int BPF_PROG(wire, const struct sk_buff *skb)
{
	u32 bytes, referenced = 0, seq, middle;
	const struct sock *sk = skb->sk;
	struct departed *d;
	struct books *b;
	u64 cookie;
	bool syn;

	note_seen(SEEN_WIRE);
	if (!window_open())
		return 0;
	cookie = cookie_of(sk);
	b = books_find(cookie);
	bytes = b ? payload_bytes(skb) : 0;
	if (!bytes)
		return 0;
	seq = payload_seq(skb, &syn);
	d = departed_of(sk, cookie, seq, syn);
	if (!d)
		return 0;
	if (uarg_of(skb))
		referenced = skb->data_len < bytes ? skb->data_len : bytes;
	middle = seq + bytes - referenced;
	count_copied(b, bytes - referenced, first_departure(d, seq, middle));
	if (referenced)
		count_referenced(b, skb, referenced,
				 first_departure(d, middle, middle + referenced));
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
