/* SPDX-License-Identifier: GPL-2.0 */
/* Tracks the packet with user pages that a driver is sending: bytes that the driver copies are not
 * clean. */
#ifndef COPYSCOPE_XMIT_TRACKING_BPF_H
#define COPYSCOPE_XMIT_TRACKING_BPF_H

#include "bpf/include/gate.bpf.h"

/* True if net_dev_queue has seen the packet: __dev_queue_xmit sets the MAC header just before. A
 * packet without a route, or whose neighbour did not answer, never left the socket for these books.
 * Nor did the pieces that IP cut for an MTU that had shrunk; they begin with their network header.
 * All packets of a device without a link layer, such as tun, begin so, too: there such pieces count
 * as having left. */
static __always_inline bool has_left(const struct sk_buff *skb)
{
	if (skb->mac_header == NO_SUCH_HEADER)
		return false;
	return skb->mac_header != skb->network_header || !BPF_CORE_READ(skb, dev, hard_header_len);
}

/* Set between net_dev_start_xmit and net_dev_xmit; on one CPU no other packet of a device that does
 * DMA comes between them. */
struct xmit {
	u64 skb;
	u64 cookie;
	u64 bytes;	/* counted as clean so far */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct xmit);
} xmits SEC(".maps") __weak;

static __always_inline struct xmit *xmit_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&xmits, &zero);
}

/* @bytes of @skb are not clean, if it is the packet that the driver is sending. */
static __always_inline void xmit_take_back(const struct sk_buff *skb, u64 bytes)
{
	struct xmit *h = xmit_here();

	if (!h || h->skb != (u64)skb)
		return;
	if (bytes > h->bytes)
		bytes = h->bytes;
	h->bytes -= bytes;
	count(books_find(h->cookie), COUNT_clean_bytes, -bytes);
}

#endif
