// SPDX-License-Identifier: GPL-2.0
/*
 * Is payload moved inside the kernel: pulled into the linear part, collapsed, coalesced?
 *
 * Every such move goes through skb_copy_bits (__pskb_pull_tail, skb_try_coalesce, tcp_collapse,
 * skb_segment, skb_copy), or through skb_copy_and_csum_bits where the device cannot checksum
 * either (skb_segment), so two hooks count each byte once.
 */
#include "bpf/handover.bpf.h"

#define ETH_P_IP_BE bpf_htons(0x0800)
#define ETH_P_IPV6_BE bpf_htons(0x86dd)

/* The socket that a packet on its way in belongs to, told by its headers. */
static __always_inline u64 cookie_of_flow(const struct sk_buff *skb)
{
	unsigned char *head = skb->head;
	unsigned char *ip = head + skb->network_header;
	u16 transport = skb->transport_header;
	__be16 protocol = skb->protocol;
	struct flow flow = {};
	u64 *cookie;

	if (transport == NO_SUCH_HEADER)
		return 0;
	if (protocol == ETH_P_IP_BE) {
		flow.saddr[2] = flow.daddr[2] = bpf_htonl(0xffff);
		bpf_probe_read_kernel(&flow.saddr[3], 4, ip + 12);
		bpf_probe_read_kernel(&flow.daddr[3], 4, ip + 16);
	} else if (protocol == ETH_P_IPV6_BE) {
		bpf_probe_read_kernel(flow.saddr, 16, ip + 8);
		bpf_probe_read_kernel(flow.daddr, 16, ip + 24);
	} else {
		return 0;
	}
	bpf_probe_read_kernel(&flow.sport, 2, head + transport);
	bpf_probe_read_kernel(&flow.dport, 2, head + transport + 2);
	cookie = bpf_map_lookup_elem(&flows, &flow);
	return cookie ? *cookie : 0;
}

static __always_inline struct books *books_of_skb(const struct sk_buff *skb)
{
	struct books *b = books_find(cookie_of(skb->sk));
	u64 uarg;
	struct pin *pin;

	if (b)
		return b;
	uarg = uarg_of(skb);
	pin = uarg ? bpf_map_lookup_elem(&pins, &uarg) : NULL;
	return books_find(pin ? pin->cookie : cookie_of_flow(skb));
}

/* Bytes of [offset, offset + len) that lie in frags, where they may be the user's. */
static __always_inline u64 bytes_in_frags(const struct sk_buff *skb, long offset, long end)
{
	long first = skb->len - skb->data_len;

	if (offset > first)
		first = offset;
	return end > first ? end - first : 0;
}

static __always_inline int reshaped(const struct sk_buff *skb, int offset, int len)
{
	long start, end = (long)offset + len;
	struct books *b, *owner;
	u64 referenced;

	if (!window_open() || len <= 0)
		return 0;
	b = books_of_skb(skb);
	if (!b)
		return 0;
	start = header_bytes(skb);
	if (offset > start)
		start = offset;
	if (end > start)
		site_add(b, SITE_reshape, end - start);
	owner = books_of_pages(skb);
	referenced = bytes_in_frags(skb, offset, end);
	if (!owner || !referenced)
		return 0;
	count(owner, COUNT_reshaped_referenced_bytes, referenced);
	handover_take_back(skb, referenced);
	return 0;
}

SEC("?fexit/skb_copy_bits")
int BPF_PROG(reshape_exit, struct sk_buff *skb, int offset, void *to, int len, int ret)
{
	return ret ? 0 : reshaped(skb, offset, len);
}

/* Cannot fail, and its arguments have changed: on entry only the first four are read. */
SEC("?fentry/skb_copy_and_csum_bits")
int BPF_PROG(reshape_csum, struct sk_buff *skb, int offset, void *to, int len)
{
	return reshaped(skb, offset, len);
}

char LICENSE[] SEC("license") __weak = "GPL";
