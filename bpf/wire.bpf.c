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
static __always_inline void count_referenced(struct books *b, u32 pages, u32 bytes, u32 first)
{
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
	const struct sock *sk = skb->sk;
	struct frags_head frags = {};
	u32 number, referenced = 0, middle;
	struct leaving leaving;
	struct departed *d;
	struct books *b;

	note_seen(SEEN_WIRE);
	if (!window_open())
		return 0;
	number = book_number(cookie_of(sk));
	b = book_numbered(number);
	if (!b)
		return 0;
	leaving = leaving_of(skb);
	if (!leaving.bytes)
		return 0;
	d = departed_of(sk, number, &leaving);
	if (!d)
		return 0;
	if (skb->data_len)
		frags = frags_head_of(skb);
	if (frags.users)
		referenced = skb->data_len < leaving.bytes ? skb->data_len : leaving.bytes;
	middle = leaving.seq + leaving.bytes - referenced;
	count_copied(b, leaving.bytes - referenced, first_departure(d, leaving.seq, middle));
	if (referenced)
		count_referenced(b, frags.count, referenced,
				 first_departure(d, middle, middle + referenced));
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
