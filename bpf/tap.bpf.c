// SPDX-License-Identifier: GPL-2.0
/*
 * Which user pages is a packet capture shown on their way out?
 *
 * dev_queue_xmit_nit is called only where someone listens. It clones the packet once for all who
 * do, and the clone's user pages are copied; the packet itself goes on as it was. On the way in
 * the same packet is shown, so that the copy for a capture is the one that delivery would make.
 */
#include "bpf/include/gate.bpf.h"

SEC("?fentry/dev_queue_xmit_nit")
int BPF_PROG(tap, struct sk_buff *skb)
{
	if (window_open())
		count(books_of_pages(skb), COUNT_tapped_bytes, skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
