// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of user pages after a send: handed to a device, copied on arrival, completed; and sends
 * and receives that plain programs never make.
 *
 * User space attaches the hooks on packets and calls only when a socket of the subject asks for zero
 * copy, so that nobody else pays for them.
 */
#include "bpf/watch/queues.bpf.h"

#define ENOBUFS_RET -105
#define MSG_TRUNC_FLAG 0x20
#define MSG_PEEK_FLAG 0x02
#define MSG_ERRQUEUE_FLAG 0x2000

/* Before a queue can drop the packet, under the lock of its socket. */
SEC("?tp_btf/net_dev_queue")
int BPF_PROG(watch_departure, const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = shinfo_of(skb);
	struct watch_slot *slot;
	struct mapped m;

	gauge_add(&watch_gauges.departures, 1);
	if (!skb->data_len || !frags_head_of(skb).users)
		return 0;
	slot = slot_find(cookie_of(skb->sk));
	if (!slot)
		return 0;
	if (BPF_CORE_READ(shinfo, flags) & SKBFL_PURE_ZEROCOPY) {
		__sync_fetch_and_add(&slot->sent_referenced, skb->data_len);
		return 0;
	}
	m = mapped_bytes(shinfo, BPF_CORE_READ(shinfo, nr_frags));
	__sync_fetch_and_add(&slot->sent_referenced, m.process);
	if (m.file)
		slot->mixed = 1;
	return 0;
}

/* The kernel copies all pages of such a packet on its way to a socket of this machine. */
SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(watch_arrival, struct sk_buff *skb)
{
	struct watch_slot *slot;

	gauge_add(&watch_gauges.arrivals, 1);
	if (!skb->data_len)
		return 0;
	slot = slot_of_pages(skb);
	if (slot)
		__sync_fetch_and_add(&slot->late_copied, skb->data_len);
	else if (frags_head_of(skb).users)
		gauge_add(&watch_gauges.orphan_late_bytes, skb->data_len);
	return 0;
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
	if (late_copies_hooked || !packets_watched || !skb->data_len)
		return 0;
	slot = slot_of_pages(skb);
	if (slot)
		__sync_fetch_and_add(&slot->late_copied, -(u64)skb->data_len);
	return 0;
}

/* A notification was put at the end of the error queue or added to the one there. The process may have
 * read it already: then the next one tells of it, too. */
SEC("?tp_btf/inet_sk_error_report")
int BPF_PROG(watch_completion, struct sock *sk)
{
	struct watch_book *book;
	struct notified n = {};
	u32 sends;

	gauge_add(&watch_gauges.reports, 1);
	if (!is_tcp(sk))
		return 0;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	if (!book)
		return 0;
	if (watch_fault == WATCH_FAULT_DROP_COMPLETION && book->flags & WATCH_OURS &&
	    !watch_gauges.injected_faults) {
		watch_gauges.injected_faults = 1;
		return 0;
	}
	if (!notified_last(sk, &n)) {
		book->unseen_reports++;
		return 0;
	}
	if ((int)(n.last - book->next_id) < 0) {
		/* Out of order: it was skipped before, or its pages were still held by a packet
		 * that no queue of the socket had any more when the window opened. */
		sends = n.last - n.first + 1;
		if (sends > book->skipped_ids) {
			book->opened_sends += sends - book->skipped_ids;
			book->skipped_ids = 0;
		} else {
			book->skipped_ids -= sends;
		}
	} else if ((int)(n.first - book->next_id) > 0) {
		sends = n.last - n.first + 1;
		book->skipped_ids += n.first - book->next_id;
		book->next_id = n.last + 1;
	} else {
		sends = n.last + 1 - book->next_id;
		book->next_id = n.last + 1;
	}
	book->completed_sends += sends;
	if (n.copied)
		book->copied_sends += sends;
	return 0;
}

/* A zero-copy send that the kernel refuses for want of option memory or of pages to pin. */
SEC("?tp_btf/sock_send_length")
int BPF_PROG(watch_refusal, struct sock *sk, int ret)
{
	struct watch_slot *slot;

	if (ret != ENOBUFS_RET || !is_tcp(sk))
		return 0;
	slot = slot_find(cookie_of(sk));
	if (slot)
		__sync_fetch_and_add(&slot->enobufs, 1);
	return 0;
}

/* Received without a copy, because the process said that it does not want the bytes; or copied and not
 * received. */
SEC("?tp_btf/sock_recv_length")
int BPF_PROG(watch_discard, struct sock *sk, int ret, int flags)
{
	struct watch_slot *slot;

	if (!(flags & (MSG_TRUNC_FLAG | MSG_PEEK_FLAG)) || flags & MSG_ERRQUEUE_FLAG || ret <= 0 ||
	    !is_tcp(sk))
		return 0;
	slot = slot_find(cookie_of(sk));
	if (slot && !(flags & MSG_PEEK_FLAG))
		__sync_fetch_and_add(&slot->rx_discarded, ret);
	else if (slot && !(flags & MSG_TRUNC_FLAG))
		__sync_fetch_and_add(&slot->rx_peeked, ret);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
