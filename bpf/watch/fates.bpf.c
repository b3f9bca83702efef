// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of packets with user pages or spliced ones: handed to a device, copied on arrival or on their
 * way, shown to a capture, dropped.
 *
 * User space attaches the tracepoints that each packet passes only when a socket of the subject asks for
 * zero copy. Each zero-copy message comes here several times, and a probe read is a call: so these programs
 * read by plain loads where the kernel lets a program say what type lies at an address. They are in one file
 * because libbpf 1.1 cannot link a kernel function that two files call.
 */
#include "bpf/include/packet_taps.bpf.h"
#include "bpf/include/xmit_tracking.bpf.h"
#include "bpf/watch/queues.bpf.h"

/* Set before load: the kernel has the function below, a35b9af4ec2c ("bpf: Add a kfunc for generic type
 * cast"), 6.2. It becomes a move of one register. */
const volatile bool casts_known __weak = false;

extern void *bpf_rdonly_cast(const void *obj__ign, __u32 btf_id__k) __ksym __weak;

#define TYPED(type, address) \
	((const type *)bpf_rdonly_cast((const void *)(address), bpf_core_type_id_kernel(type)))

#define NO_NOTIFICATION 1	/* skb_zcopy_is_nouarg() */

/* SKBFL_*. @skb: known to the verifier. */
static __always_inline u8 page_flags_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = shinfo_of(skb);

	return casts_known ? TYPED(struct skb_shared_info, shinfo)->flags : BPF_CORE_READ(shinfo, flags);
}

/* The notification of a packet that has or had SKBFL_ZEROCOPY_ENABLE, as uarg_of(). */
static __always_inline u64 notification_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = shinfo_of(skb);

	return casts_known ? (u64)TYPED(struct skb_shared_info, shinfo)->destructor_arg :
			     (u64)BPF_CORE_READ(shinfo, destructor_arg);
}

/* As cookie_of_holder(). */
static __always_inline u64 notifying_cookie(u64 uarg)
{
	u64 holder = (u64)holder_of(uarg);

	return casts_known ? cookie_of(TYPED(struct sk_buff, holder)->sk) : cookie_of_holder(uarg);
}

/* Whose user pages a packet with SKBFL_ZEROCOPY_ENABLE has, or had. */
static __always_inline u64 cookie_of_pages(const struct sk_buff *skb)
{
	u64 uarg = notification_of(skb), *cookie = NULL;

	if (!uarg || uarg & NO_NOTIFICATION)
		return 0;
	if (ring_sends_noted)
		cookie = bpf_map_lookup_elem(&ring_sends, &uarg);
	return cookie ? *cookie : notifying_cookie(uarg);
}

static __always_inline struct watch_slot *slot_of_pages(const struct sk_buff *skb)
{
	return slot_find(cookie_of_pages(skb));
}

/* Bytes of user pages in a packet with SKBFL_ZEROCOPY_ENABLE. Pages of files beside them may be either. */
static __always_inline u32 user_bytes(struct watch_slot *slot, const struct sk_buff *skb, u8 flags)
{
	struct mapped m;

	if (flags & SKBFL_PURE_ZEROCOPY)
		return skb->data_len;
	m = mapped_bytes(shinfo_of(skb), frags_head_of(skb).count);
	if (m.file)
		slot->mixed = 1;
	return m.process;
}

/* Before a queue can drop the packet, under the lock of its socket. Payload is never in a packet's linear
 * part here, but for what Fast Open sent with its SYN. */
SEC("?tp_btf/net_dev_queue")
int BPF_PROG(watch_departure, const struct sk_buff *skb)
{
	struct watch_slot *slot;
	u8 flags;

	if (!skb->data_len)
		return 0;
	slot = slot_find(cookie_of(skb->sk));
	if (!slot || watch_fault == WATCH_FAULT_SKIP_DEPARTURES)
		return 0;
	__sync_fetch_and_add(&slot->departed, skb->data_len);
	flags = page_flags_of(skb);
	if (flags & SKBFL_ZEROCOPY_ENABLE)
		__sync_fetch_and_add(&slot->sent_referenced, user_bytes(slot, skb, flags));
	else if (flags & SKBFL_SHARED_FRAG)
		__sync_fetch_and_add(&slot->spliced_queued, skb->data_len);
	return 0;
}

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

/* A pair of devices in two namespaces, which takes packets as they are (drivers/net/veth.c). */
static __always_inline bool is_veth(const struct net_device *dev)
{
	return kind_of(dev) == KIND('v', 'e', 't', 'h');
}

static __always_inline bool is_tun(const struct net_device *dev)
{
	return kind_of(dev) == KIND('t', 'u', 'n', 0);
}

#define IPV4_PROTOCOL_OFFSET 9
#define IPV6_PROTOCOL_OFFSET 6

/* Not so in a tunnel, where the payload may have been encrypted into pages of the kernel's. */
static __always_inline bool carries_tcp(const struct sk_buff *skb)
{
	u8 ip[10] = {};

	bpf_probe_read_kernel(ip, sizeof(ip), skb->head + skb->network_header);
	return ip[ip[0] >> 4 == 6 ? IPV6_PROTOCOL_OFFSET : IPV4_PROTOCOL_OFFSET] == IPPROTO_TCP_NUMBER;
}

/* What a device does that is not the last one, on a bus. */
static __always_inline u8 paths_of(const struct sk_buff *skb, const struct net_device *dev)
{
	u8 paths = skb->skb_iif ? WATCH_PATH_ONWARD : 0;

	if (captures_of(dev))
		paths |= WATCH_PATH_TAPPED;
	if (dev->dev.parent || dev->flags & IFF_LOOPBACK_FLAG)
		return paths;
	return paths | (is_veth(dev) ? WATCH_PATH_VETH : WATCH_PATH_OTHER);
}

static __always_inline void path_note(struct watch_slot *slot, u8 paths)
{
	if ((slot->paths & paths) != paths)
		slot->paths |= paths;
}

/* A device on a bus reads the user's pages itself, unless its driver copies some, which takes them back. */
static __always_inline void pages_handed(const struct sk_buff *skb, const struct net_device *dev, u8 flags)
{
	struct watch_slot *slot;
	struct xmit *h;
	u64 cookie;

	/* Where late copies are hooked, nothing else is to be known of other devices. */
	if (late_copies_hooked && !dev->dev.parent)
		return;
	cookie = cookie_of_pages(skb);
	slot = slot_find(cookie);
	if (!slot)
		return;
	if (!late_copies_hooked)
		path_note(slot, paths_of(skb, dev));
	h = xmit_here();
	if (!dev->dev.parent || !h || !carries_tcp(skb))
		return;
	h->skb = (u64)skb;
	h->cookie = cookie;
	h->bytes = user_bytes(slot, skb, flags);
	__sync_fetch_and_add(&slot->clean, h->bytes);
}

/* Pages that were spliced have no notification: who sent them is known until the socket is taken off. Nobody
 * copies them on arrival. */
static __always_inline void splices_handed(const struct sk_buff *skb, const struct net_device *dev)
{
	struct watch_slot *slot = slot_find(cookie_of(skb->sk));
	u8 paths = paths_of(skb, dev);

	if (!slot) {
		if (paths & WATCH_PATH_ONWARD)
			gauge_add(&watch_gauges.spliced_onward, skb->data_len);
		return;
	}
	path_note(slot, paths);
	if (!(paths & WATCH_PATH_OTHER) && carries_tcp(skb))
		__sync_fetch_and_add(&slot->spliced_handed, skb->data_len);
}

/* What the device cannot gather was made linear, and has no such pages here. */
SEC("?tp_btf/net_dev_start_xmit")
int BPF_PROG(watch_device, const struct sk_buff *skb, const struct net_device *dev)
{
	u8 flags;

	if (!skb->data_len)
		return 0;
	flags = page_flags_of(skb);
	if (flags & SKBFL_ZEROCOPY_ENABLE)
		pages_handed(skb, dev, flags);
	else if (flags & SKBFL_SHARED_FRAG)
		splices_handed(skb, dev);
	return 0;
}

static __always_inline void clean_take_back(const struct sk_buff *skb, u64 bytes)
{
	u64 cookie = 0, cut = xmit_cut(skb, bytes, &cookie);
	struct watch_slot *slot = cut ? slot_find(cookie) : NULL;

	if (slot)
		__sync_fetch_and_add(&slot->clean, -cut);
}

/* The skb may be freed by now: only its address is used. A busy device gets it again later. */
SEC("?tp_btf/net_dev_xmit")
int BPF_PROG(watch_device_done, struct sk_buff *skb, int rc)
{
	struct xmit *h = xmit_here();

	if (!h || h->skb != (u64)skb)
		return 0;
	if (rc == NETDEV_TX_BUSY)
		clean_take_back(skb, h->bytes);
	h->skb = 0;
	return 0;
}

/* Payload that the kernel moves out of user pages or spliced ones, behind the socket. */
static __always_inline int moved_behind(const struct sk_buff *skb, int offset, int len)
{
	struct watch_slot *slot;
	u64 bytes;
	u8 flags;

	if (len <= 0 || !skb->data_len)
		return 0;
	flags = page_flags_of(skb);
	bytes = flags & (SKBFL_ZEROCOPY_ENABLE | SKBFL_SHARED_FRAG) ?
			bytes_in_frags(skb, offset, (long)offset + len) : 0;
	if (!bytes || !has_left(skb))
		return 0;
	slot = flags & SKBFL_ZEROCOPY_ENABLE ? slot_of_pages(skb) : slot_find(cookie_of(skb->sk));
	if (slot)
		__sync_fetch_and_add(&slot->reshaped, bytes);
	else if (!(flags & SKBFL_ZEROCOPY_ENABLE))
		gauge_add(&watch_gauges.reshaped_orphans, bytes);
	clean_take_back(skb, bytes);
	return 0;
}

SEC("?fexit/skb_copy_bits")
int BPF_PROG(watch_moved, struct sk_buff *skb, int offset, void *to, int len, int ret)
{
	return ret ? 0 : moved_behind(skb, offset, len);
}

SEC("?fentry/skb_copy_and_csum_bits")
int BPF_PROG(watch_moved_csum, struct sk_buff *skb, int offset, void *to, int len)
{
	return quoted(skb, offset) ? 0 : moved_behind(skb, offset, len);
}

/* A capture's copy, or that of tun, of a time stamp, of something that rewrites packets. */
static __always_inline void late_on_way_out(struct watch_slot *slot, const struct sk_buff *skb)
{
	__sync_fetch_and_add(&slot->late_on_way_out, skb->data_len);
	if (is_tun(skb->dev))
		path_note(slot, WATCH_PATH_TUN);
}

/* @on_way_out: no device of this machine has received the packet. */
static __always_inline int copied_late(const struct sk_buff *skb, bool on_way_out)
{
	struct watch_slot *slot = slot_of_pages(skb);

	if (slot) {
		__sync_fetch_and_add(&slot->late_copied, skb->data_len);
		if (on_way_out)
			late_on_way_out(slot, skb);
	} else {
		gauge_add(&watch_gauges.orphan_late_bytes, skb->data_len);
	}
	return 0;
}

/* The kernel copies all pages of such a packet on its way to a socket of this machine. */
SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(watch_arrival, struct sk_buff *skb)
{
	gauge_add(&watch_gauges.arrivals, 1);
	if (!skb->data_len || !(page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE))
		return 0;
	if (captures_of(skb->dev)) {
		struct watch_slot *slot = slot_of_pages(skb);

		if (slot)
			path_note(slot, WATCH_PATH_TAPPED);
	}
	return copied_late(skb, false);
}

/* A packet that a queue of this machine refuses is sent again as if it were new. One that arrived
 * (skb_iif) and is dropped in user pages was not copied. One without even a header is a notification:
 * the kernel may not pin the pages that it is for, or nobody read it. */
SEC("?tp_btf/kfree_skb")
int BPF_PROG(watch_drop, const struct sk_buff *skb)
{
	struct watch_slot *slot;

	if (!skb->skb_iif) {
		slot = slot_find(cookie_of(skb->sk));
		if (slot && skb->len)
			__sync_fetch_and_add(&slot->dropped_packets, 1);
		else if (slot)
			slot->unpinned = 1;
		return 0;
	}
	if (late_copies_hooked || !packets_watched || !skb->data_len ||
	    !(page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE))
		return 0;
	slot = slot_of_pages(skb);
	if (slot)
		__sync_fetch_and_add(&slot->late_copied, -(u64)skb->data_len);
	return 0;
}

/* On exit, when it is known that there was memory for the copy; data_len is as before. The packet has let go of
 * its notification by then, but still tells which one that was (skb_zcopy_clear() clears flags alone), and TCP's
 * own packet holds that until the data are acknowledged. Not if this is a copy that was sent in vain: then it
 * waits in the error queue, or its memory was freed a moment ago. A second hook, on entry, would cost
 * more than this program. */
SEC("?fexit/skb_copy_ubufs")
int BPF_PROG(watch_late_copy, struct sk_buff *skb, unsigned int gfp, int ret)
{
	return ret ? 0 : copied_late(skb, !skb->skb_iif);
}

/* Called where captures run alone: they get a clone, whose user pages are copied. */
SEC("?fentry/dev_queue_xmit_nit")
int BPF_PROG(watch_tap, struct sk_buff *skb)
{
	struct watch_slot *slot = NULL;

	if (page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE)
		slot = slot_of_pages(skb);
	if (slot)
		__sync_fetch_and_add(&slot->tapped, skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
