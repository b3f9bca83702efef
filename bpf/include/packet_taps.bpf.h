/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which captures see a packet of a device?
 *
 * __netif_receive_skb_core copies for several reasons: it hands an skb to each capture, then to IP,
 * and copies user pages for the first that must not see them. Captures come first, so if there is
 * one the copy was for it.
 */
#ifndef COPYSCOPE_PACKET_TAPS_BPF_H
#define COPYSCOPE_PACKET_TAPS_BPF_H

#include "bpf/include/sites.h"
#include "bpf/include/skb.bpf.h"

#define OF_SOME_KERNELS __attribute__((preserve_access_index))

struct net___packet_taps {
	struct list_head ptype_all;
} OF_SOME_KERNELS;

struct net_hotdata___packet_taps {
	struct list_head ptype_all;
} OF_SOME_KERNELS;

/* Set between load and attachment; 0: hidden, or the kernel has no such variable. */
struct taps_at taps_at __weak = {};

static __always_inline bool list_filled(const void *head)
{
	const void *next = NULL;

	if (casts_known)
		next = TYPED(list_head, head)->next;
	else
		bpf_probe_read_kernel(&next, sizeof(next), head);
	return next && next != head;
}

/* The list of captures that are bound to no device: of the namespace since c353e8983e0d ("net:
 * introduce per netns packet chains"); before, one for the machine, which moved into
 * net_hotdata with 0b91fa4bfb1c ("net: move ptype_all into net_hotdata"), 6.9. NULL if hidden. */
static __always_inline const void *packet_taps_of(const struct net *net)
{
	if (bpf_core_field_exists(struct net___packet_taps, ptype_all))
		return (const void *)net + bpf_core_field_offset(struct net___packet_taps, ptype_all);
	if (bpf_core_field_exists(struct net_hotdata___packet_taps, ptype_all))
		return taps_at.net_hotdata ? (const void *)taps_at.net_hotdata +
			bpf_core_field_offset(struct net_hotdata___packet_taps, ptype_all) : NULL;
	return (const void *)taps_at.ptype_all;
}

/* COPIED_TAPPED, or COPIED_UNSURE where the kernel does not show who captures. */
static __always_inline u32 captures_of(const struct net_device *dev)
{
	const void *captures = packet_taps_of(dev->nd_net.net);
	u32 found = captures ? 0 : COPIED_UNSURE;

	if ((u64)dev->ptype_all.next != (u64)&dev->ptype_all || (captures && list_filled(captures)))
		found |= COPIED_TAPPED;
	return found;
}

#endif
