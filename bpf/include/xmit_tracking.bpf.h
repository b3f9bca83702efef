/* SPDX-License-Identifier: GPL-2.0 */
/* Tracks the packet with user pages that a driver is sending: bytes that the driver copies are not
 * clean. */
#ifndef COPYSCOPE_XMIT_TRACKING_BPF_H
#define COPYSCOPE_XMIT_TRACKING_BPF_H

#include "bpf/include/skb.bpf.h"

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

/* @bytes of @skb are not clean, if it is the packet that the driver is sending: how many of them were counted
 * as clean, and in *@cookie for which socket. */
static __always_inline u64 xmit_cut(const struct sk_buff *skb, u64 bytes, u64 *cookie)
{
	struct xmit *h = xmit_here();

	if (!h || h->skb != (u64)skb)
		return 0;
	if (bytes > h->bytes)
		bytes = h->bytes;
	h->bytes -= bytes;
	*cookie = h->cookie;
	return bytes;
}

#endif
