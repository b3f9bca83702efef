// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of packets with user pages: handed to a device, copied on arrival or on their way, shown to a
 * capture, dropped.
 *
 * User space attaches the tracepoints that each packet passes only when a socket of the subject asks for
 * zero copy. Each zero-copy message comes here several times, and a probe read is a call: so these programs
 * read by plain loads where the kernel lets a program say what type lies at an address. They are in one file
 * because libbpf 1.1 cannot link a kernel function that two files call.
 */
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
static __always_inline struct watch_slot *slot_of_pages(const struct sk_buff *skb)
{
	u64 uarg = notification_of(skb), *cookie = NULL;

	if (!uarg || uarg & NO_NOTIFICATION)
		return NULL;
	if (ring_sends_noted)
		cookie = bpf_map_lookup_elem(&ring_sends, &uarg);
	return slot_find(cookie ? *cookie : notifying_cookie(uarg));
}

/* Before a queue can drop the packet, under the lock of its socket. Payload is never in a packet's linear
 * part here, but for what Fast Open sent with its SYN. */
SEC("?tp_btf/net_dev_queue")
int BPF_PROG(watch_departure, const struct sk_buff *skb)
{
	struct watch_slot *slot;
	struct mapped m;
	u8 flags;

	if (!skb->data_len)
		return 0;
	slot = slot_find(cookie_of(skb->sk));
	if (!slot || watch_fault == WATCH_FAULT_SKIP_DEPARTURES)
		return 0;
	__sync_fetch_and_add(&slot->departed, skb->data_len);
	flags = page_flags_of(skb);
	if (!(flags & SKBFL_ZEROCOPY_ENABLE))
		return 0;
	if (flags & SKBFL_PURE_ZEROCOPY) {
		__sync_fetch_and_add(&slot->sent_referenced, skb->data_len);
		return 0;
	}
	m = mapped_bytes(shinfo_of(skb), frags_head_of(skb).count);
	__sync_fetch_and_add(&slot->sent_referenced, m.process);
	if (m.file)
		slot->mixed = 1;
	return 0;
}

static __always_inline int copied_late(const struct sk_buff *skb)
{
	struct watch_slot *slot = slot_of_pages(skb);

	if (slot)
		__sync_fetch_and_add(&slot->late_copied, skb->data_len);
	else
		gauge_add(&watch_gauges.orphan_late_bytes, skb->data_len);
	return 0;
}

/* The kernel copies all pages of such a packet on its way to a socket of this machine. */
SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(watch_arrival, struct sk_buff *skb)
{
	gauge_add(&watch_gauges.arrivals, 1);
	if (!skb->data_len || !(page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE))
		return 0;
	return copied_late(skb);
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
	return ret ? 0 : copied_late(skb);
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
