// SPDX-License-Identifier: GPL-2.0
/*
 * What happened to the referenced pages: shown to captures, copied later, and by whom, or sent and
 * released?
 *
 * Runs in softirq on any current task, so everything is charged by the notification (ubuf_info) of
 * the pages.
 */
#include "bpf/include/packet_taps.bpf.h"
#include "bpf/include/cause.bpf.h"

/* Valid while skb->dev is a device: in a driver, in the receive path, not in a socket's queue. */
static __always_inline u32 circumstances_of(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;

	return captures_of(dev) | (netns_is_ours(dev->nd_net.net->ns.inum) ? 0 : COPIED_ELSEWHERE);
}

/* Adds @times the payload in the frags of @skb to what was copied late. */
static __always_inline int late_copy(void *ctx, const struct sk_buff *skb, int times)
{
	u64 uarg = window_open() ? uarg_of(skb) : 0;
	struct pin *pin = uarg ? bpf_map_lookup_elem(&pins, &uarg) : NULL;
	struct books *b = pin ? books_find(pin->cookie) : NULL;

	if (!b)
		return 0;
	site_change(b, SITE_late_copy, (u64)times * skb->data_len, times);
	charge_cause(ctx, 2, SITE_late_copy, circumstances_of(skb), (u64)times * skb->data_len, times);
	return 0;
}

/* On entry, because the copy lets go of the notification. data_len is copied: the call does not
 * change it, and TCP has no frag_list. */
SEC("?fentry/skb_copy_ubufs")
int BPF_PROG(late_copy_enter, struct sk_buff *skb)
{
	return late_copy(ctx, skb, 1);
}

/* Without memory nothing was copied, and the packet still has its notification. */
SEC("?fexit/skb_copy_ubufs")
int BPF_PROG(late_copy_exit, struct sk_buff *skb, unsigned int gfp, int ret)
{
	return ret ? late_copy(ctx, skb, -1) : 0;
}

/* The last reference to a notification is gone, and its pages are released with it. @clean: none
 * of them was copied. */
static __always_inline int notification_ends(u64 key, u16 sends, bool clean)
{
	struct pin *pin, ended = {};
	struct books *b;

	if (!window_open())
		return 0;
	pin = bpf_map_lookup_elem(&pins, &key);
	if (pin) {
		/* Whoever takes the pin away counts it. */
		ended = *pin;
		if (bpf_map_delete_elem(&pins, &key))
			return 0;
		b = books_find(ended.cookie);
	} else {
		/* A send that had to copy all its bytes: no skb holds its notification. */
		b = books_find(cookie_of_uarg(key));
	}
	if (!b)
		return 0;
	if (fault_inject == FAULT_DROP_COMPLETION && sends && !gauges.injected_faults) {
		add(&gauges.injected_faults, 1);
		sends--;
	}
	count(b, COUNT_completed_sends, sends);
	if (!clean)
		count(b, COUNT_copied_sends, sends);
	count(b, COUNT_released_pages, ended.pages);
	add(&gauges.outstanding_pages, -ended.pages);
	return 0;
}

/* Three names in three generations. Until 8c793822c580 ("skbuff: rename sock_zerocopy_* to
 * msg_zerocopy_*"), 5.12, called for the last reference alone. */
SEC("?fentry/sock_zerocopy_callback")
int BPF_PROG(completion_sock, struct ubuf_info *uarg, bool success)
{
	return notification_ends((u64)uarg, notification_sends(uarg), success);
}

/* Since then a function of its own, as long as the compiler leaves it one. */
SEC("?fentry/__msg_zerocopy_callback")
int BPF_PROG(completion, struct ubuf_info_msgzc *uarg)
{
	u16 sends;
	bool clean;

	if (!window_open())
		return 0;
	if (bpf_core_type_exists(struct ubuf_info_msgzc)) {
		/* Plain loads: the verifier knows the argument. */
		sends = uarg->len;
		clean = BPF_CORE_READ_BITFIELD(uarg, zerocopy);
	} else {
		sends = notification_sends(uarg);
		clean = notification_clean(uarg);
	}
	return notification_ends((u64)uarg, sends, clean);
}

/* Where the compiler has inlined it, each reference that is put passes here, and the last one
 * ends the notification. Seen on entry if no other is left.
 *
 * The kernel skips a program for a softirq that interrupts it (kernel/bpf/trampoline.c,
 * __bpf_prog_enter_recur), and puts are made in both. But a task is in one of these two programs at
 * a time, so the softirq runs the other one, which finds the end, too. */
SEC("?fentry/msg_zerocopy_complete")
int BPF_PROG(completion_put_enter, struct sk_buff *skb, struct ubuf_info *uarg, bool success)
{
	u64 key = (u64)uarg;
	bool clean = success && notification_clean(uarg);
	struct pin *pin;

	if (!window_open() || fault_inject == FAULT_SKIP_PUT_ENTRY)
		return 0;
	if (BPF_CORE_READ(uarg, refcnt.refs.counter) == 1)
		return notification_ends(key, notification_sends(uarg), clean);
	pin = bpf_map_lookup_elem(&pins, &key);
	if (!pin)
		return 0;
	pin->sends = notification_sends(uarg);
	pin->clean = clean;
	return 0;
}

/* Two that are put at once see each other on entry; on exit both see none. The notification may be
 * on the error queue by now, but what it holds there begins with zeros (SKB_EXT_ERR). */
SEC("?fexit/msg_zerocopy_complete")
int BPF_PROG(completion_put_exit, struct sk_buff *skb, struct ubuf_info *uarg, bool success)
{
	u64 key = (u64)uarg;
	struct pin *pin = window_open() ? bpf_map_lookup_elem(&pins, &key) : NULL;

	if (!pin || fault_inject == FAULT_SKIP_PUT_EXIT)
		return 0;
	if (!success)
		pin->clean = false;
	return BPF_CORE_READ(uarg, refcnt.refs.counter) ? 0 :
	       notification_ends(key, pin->sends, pin->clean);
}

/*
 * dev_queue_xmit_nit is called only where someone listens. It clones the packet once for all who
 * do, and the clone's user pages are copied; the packet itself goes on as it was. On the way in
 * the same packet is shown, so that the copy for a capture is the one that delivery would make.
 */
SEC("?fentry/dev_queue_xmit_nit")
int BPF_PROG(tap, struct sk_buff *skb)
{
	if (window_open())
		count(books_of_pages(skb), COUNT_tapped_bytes, skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
