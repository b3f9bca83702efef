/* SPDX-License-Identifier: GPL-2.0 */
/* Tracks the packet that a driver is sending: user pages that it copies are not clean, and what a busy one gives back
 * was not handed over. */
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

/* Something was noted in this table: devices that hand on nothing and have no hardware leave it empty. */
volatile __u32 xmits_noted __weak = 0;

/* NULL: there is nothing. */
static __always_inline struct xmit *xmit_here(void)
{
	u32 zero = 0;

	return xmits_noted ? bpf_map_lookup_elem(&xmits, &zero) : NULL;
}

/* To note something. */
static __always_inline struct xmit *xmit_begin(void)
{
	if (!xmits_noted)
		xmits_noted = 1;
	return xmit_here();
}

/* A device without hardware has it, and may hand it to another one: not lo. */
static __always_inline void stack_note(const struct sk_buff *skb)
{
	struct xmit *h = xmit_begin();

	if (h)
		h->stacked = (u64)skb;
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

/* Spliced pages of nobody knows whom that a device has as they were queued: nobody copied them in between. */
static __always_inline void onward_handed(const struct sk_buff *skb, u8 paths)
{
	struct xmit *h;

	if (late_copies_hooked) {
		if (paths & WATCH_PATH_OTHER)
			gauge_add(&watch_gauges.spliced_onward, skb->data_len);
		return;
	}
	h = paths & (WATCH_PATH_OTHER | WATCH_PATH_XDP) ? NULL : xmit_begin();
	if (!h)
		return;
	h->skb = (u64)skb;
	h->cookie = h->bytes = h->detail_bytes = 0;
	h->onward = skb->data_len;
	gauge_add(&watch_gauges.spliced_onward, -h->onward);
}

/* A busy device gets it again later. */
static __always_inline void onward_held(const struct xmit *h)
{
	struct watch_slot *slot = h->onward ? slot_find(h->cookie) : NULL;

	if (slot)
		__sync_fetch_and_add(&slot->late_copied, h->onward);
	else if (!h->cookie)
		gauge_add(&watch_gauges.spliced_onward, h->onward);
}

#endif
