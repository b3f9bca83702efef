// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to user pages at a device: handed over as they are, or dropped on the way there?
 * Used by both backends.
 *
 * A packet is clean if its frags still are the user's when a device on a bus gets it: that device
 * reads the pages itself. Charged by the notification, because a router in between removes skb->sk.
 */
#include "bpf/include/owner.bpf.h"

/* skb that was handed to a device: some drivers free it as if they had dropped it (vmxnet3, with
 * dev_kfree_skb_any), so a free after the hand-over is no drop. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, u64);
} handed SEC(".maps");

/* The kernel reuses the memory of an skb. */
SEC("?tp_btf/net_dev_queue")
int BPF_PROG(xmit_fresh, const struct sk_buff *skb)
{
	u64 key = (u64)skb;

	if (window_open() && uarg_of(skb))
		bpf_map_delete_elem(&handed, &key);
	return 0;
}

SEC("?tp_btf/net_dev_start_xmit")
int BPF_PROG(xmit_begin, const struct sk_buff *skb, const struct net_device *dev)
{
	u64 uarg, key = (u64)skb;
	struct xmit *h;

	note_seen(SEEN_XMIT);
	if (!window_open() || !dev->dev.parent)
		return 0;
	uarg = uarg_of(skb);
	h = xmit_here();
	if (!uarg || !h)
		return 0;
	h->skb = key;
	h->cookie = cookie_of_uarg(uarg);
	h->bytes = skb->data_len;
	count(books_find(h->cookie), COUNT_clean_bytes, h->bytes);
	if (bpf_map_update_elem(&handed, &key, &h->bytes, BPF_ANY))
		note_lost_update();
	return 0;
}

/* The skb may be freed by now: only its address is used. A busy device gets it again later. */
SEC("?tp_btf/net_dev_xmit")
int BPF_PROG(xmit_end, struct sk_buff *skb, int rc)
{
	struct xmit *h = xmit_here();
	u64 key = (u64)skb;

	if (!h || h->skb != key)
		return 0;
	if (rc == NETDEV_TX_BUSY) {
		xmit_take_back(skb, h->bytes);
		bpf_map_delete_elem(&handed, &key);
	}
	h->skb = 0;
	return 0;
}

#define TBF_ENQUEUE_BYTES 4096 /* more than the code of tbf_enqueue, less than that of the module */

/* A tbf that refuses every piece of a packet also frees the packet (tbf_segment since 1596a135e318,
 * "net/sched: tbf: correct backlog statistic for GSO packets", 6.13 and stable trees): the pieces
 * are its drop. Nothing else in sch_tbf frees a packet; its caller frees refused ones. */
static __always_inline bool refused_in_pieces(const struct sk_buff *skb, u64 location)
{
	const struct Qdisc *queue = BPF_CORE_READ(skb, dev, qdisc);
	u64 enqueue = (u64)BPF_CORE_READ(queue, enqueue);
	char id[4] = {};

	if (location - enqueue >= TBF_ENQUEUE_BYTES)
		return false;
	bpf_probe_read_kernel(id, sizeof(id), BPF_CORE_READ(queue, ops, id));
	return id[0] == 't' && id[1] == 'b' && id[2] == 'f' && !id[3];
}

/* Dropped before a device got it, or by the driver that has it. Delivered packets are consumed, not
 * dropped, and have lost their user pages. */
SEC("?tp_btf/kfree_skb")
int BPF_PROG(drop, const struct sk_buff *skb, const void *location)
{
	struct xmit *h = xmit_here();
	u64 key = (u64)skb;
	struct books *b;

	if (!window_open() || !h || !has_left(skb))
		return 0;
	b = books_of_pages(skb);
	if (!b || refused_in_pieces(skb, (u64)location) ||
	    (!bpf_map_delete_elem(&handed, &key) && h->skb != key))
		return 0;
	count(b, COUNT_dropped_referenced_bytes, skb->data_len);
	xmit_take_back(skb, skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
