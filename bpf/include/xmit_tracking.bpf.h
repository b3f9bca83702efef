/* SPDX-License-Identifier: GPL-2.0 */
/* Tracks the packet with user pages that a driver is sending: bytes that the driver copies are not
 * clean. */
#ifndef COPYSCOPE_XMIT_TRACKING_BPF_H
#define COPYSCOPE_XMIT_TRACKING_BPF_H

#include "bpf/include/detail.bpf.h"

/* Set between net_dev_start_xmit and net_dev_xmit; on one CPU no other packet of a device that does
 * DMA comes between them. */
struct xmit {
	u64 skb;
	u64 cookie;
	u64 bytes;	/* counted as clean in the slot so far */
	u64 detail_bytes;	/* and beside it */
	u64 stacked;	/* the packet that a device without hardware is sending: the next one gets it as it is */
	u64 onward;	/* bytes that arrived here and are not copied, as .skb takes them on */
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

/* Returns at most @bytes of *@counted, and takes them off. */
static __always_inline u64 take_off(u64 *counted, u64 bytes)
{
	if (bytes > *counted)
		bytes = *counted;
	*counted -= bytes;
	return bytes;
}

/* @bytes of @skb are not clean, if it is the packet that the driver is sending. */
static __always_inline void clean_take_back(const struct sk_buff *skb, u64 bytes)
{
	struct xmit *h = xmit_here();
	struct watch_slot *slot;

	if (!h || h->skb != (u64)skb)
		return;
	slot = slot_find(h->cookie);
	if (slot)
		__sync_fetch_and_add(&slot->clean, -take_off(&h->bytes, bytes));
	if (details_wanted)
		count(books_find(h->cookie), COUNT_clean_bytes, -take_off(&h->detail_bytes, bytes));
}

#endif
