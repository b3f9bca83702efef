/* SPDX-License-Identifier: GPL-2.0 */
/* What a device does to the packets that it is handed: whether it hands them on as they are, or may copy. */
#ifndef COPYSCOPE_DEVICES_BPF_H
#define COPYSCOPE_DEVICES_BPF_H

#include "bpf/include/book.bpf.h"
#include "bpf/include/owner.bpf.h"
#include "bpf/include/packet_taps.bpf.h"
#include "bpf/include/queues.bpf.h"

#define IFF_LOOPBACK_FLAG 8

/* The first letters of what ip(8) calls that kind of device; 0 if it has none. */
static __always_inline u32 kind_of(const struct net_device *dev)
{
	const struct rtnl_link_ops *ops = dev ? dev->rtnl_link_ops : NULL;
	u32 kind = 0;

	if (ops)
		bpf_probe_read_kernel(&kind, sizeof(kind), ops->kind);
	return kind;
}

#define KIND(a, b, c, d) ((u32)(a) | (b) << 8 | (c) << 16 | (u32)(d) << 24)

/* Two devices of which each receives what the other sends (drivers/net/veth.c, drivers/net/netkit.c). */
static __always_inline bool is_paired(u32 kind)
{
	return kind == KIND('v', 'e', 't', 'h') || kind == KIND('n', 'e', 't', 'k');
}

/* A device without hardware that takes packets as they are: a pair, a bridge, macvlan, ipvlan, vlan, bond, team. */
static __always_inline bool hands_on(u32 kind)
{
	return is_paired(kind) || kind == KIND('b', 'r', 'i', 'd') || kind == KIND('m', 'a', 'c', 'v') ||
	       kind == KIND('i', 'p', 'v', 'l') || kind == KIND('v', 'l', 'a', 'n') ||
	       kind == KIND('b', 'o', 'n', 'd') || kind == KIND('t', 'e', 'a', 'm');
}

#define NETDEV_ALIGN_BYTES 32	/* NETDEV_ALIGN: what a driver keeps lies there, behind the device */

/* The other one of a pair, which the driver keeps first. */
static __always_inline const struct net_device *other_of_pair(const struct net_device *dev)
{
	u64 size = bpf_core_type_size(struct net_device);
	const struct net_device *other = NULL;

	size = (size + NETDEV_ALIGN_BYTES - 1) & -NETDEV_ALIGN_BYTES;
	bpf_probe_read_kernel(&other, sizeof(other), (const void *)dev + size);
	return other;
}

/* For an XDP program of the driver's or of the stack's the kernel copies packets that have pages of others. */
static __always_inline bool has_xdp(const struct net_device *dev)
{
	if (!dev)
		return false;
	if (!casts_known)
		return BPF_CORE_READ(dev, xdp_prog) || BPF_CORE_READ(dev, xdp_state[1].prog) ||
		       BPF_CORE_READ(dev, xdp_state[1].link);
	dev = TYPED(net_device, dev);
	return dev->xdp_prog || dev->xdp_state[1].prog || dev->xdp_state[1].link;
}

static __always_inline bool is_tun(const struct net_device *dev)
{
	return kind_of(dev) == KIND('t', 'u', 'n', 0);
}

/* Not so in a tunnel, where the payload may have been encrypted into pages of the kernel's. */
static __always_inline bool is_plain(const struct watch_slot *slot, const struct sk_buff *skb)
{
	return protocol_of(skb) == (slot->datagrams ? IPPROTO_UDP_NUMBER : IPPROTO_TCP_NUMBER);
}

/* What a device does that is not the last one, on a bus. */
static __always_inline u8 paths_of(const struct net_device *dev)
{
	u8 paths = captures_of(dev) ? WATCH_PATH_TAPPED : 0;
	u32 kind;

	if (dev->dev.parent)
		return paths;
	if (dev->flags & IFF_LOOPBACK_FLAG)
		return paths | (has_xdp(dev) ? WATCH_PATH_XDP : 0);
	kind = kind_of(dev);
	if (is_paired(kind) && has_xdp(other_of_pair(dev)))
		paths |= WATCH_PATH_XDP;
	return paths | (hands_on(kind) ? WATCH_PATH_VIRTUAL : WATCH_PATH_OTHER);
}

/* include/net/ip.h, include/linux/ipv6.h: what xfrm_output() notes in skb->cb, where no queue has had the packet since. */
#define IPSKB_XFRM_TRANSFORMED (1 << 2)
#define IP6SKB_XFRM_TRANSFORMED 1

/* Was it encrypted, or compressed, on this machine? */
static __always_inline bool is_transformed(const struct sk_buff *skb)
{
	const void *own = skb->cb;

	return skb->protocol == ETH_P_IPV6_BE ?
		       BPF_CORE_READ((const struct inet6_skb_parm *)own, flags) & IP6SKB_XFRM_TRANSFORMED :
		       BPF_CORE_READ((const struct inet_skb_parm *)own, flags) & IPSKB_XFRM_TRANSFORMED;
}

/* Spliced pages of nobody knows whom that this machine hands on, before a device that cannot gather has them copied: with
 * trampolines that copy is seen. That of IPsec is not, where it encrypts into new pages (esp_output_tail), and what it
 * has encrypted does not tell whether pages were spliced. */
static __always_inline int onward_queued(const struct sk_buff *skb, u8 flags)
{
	u64 bytes = is_transformed(skb) ? skb->len : 0;

	if (!late_copies_hooked && (flags & (SKBFL_ZEROCOPY_ENABLE | SKBFL_SHARED_FRAG)) == SKBFL_SHARED_FRAG)
		bytes += skb->data_len;
	if (bytes)
		gauge_add(&watch_gauges.spliced_onward, bytes);
	return 0;
}

#endif
