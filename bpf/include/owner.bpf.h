/* SPDX-License-Identifier: GPL-2.0 */
/* Whose is a packet? Found by its socket, its notification or the addresses in its headers. */
#ifndef COPYSCOPE_OWNER_BPF_H
#define COPYSCOPE_OWNER_BPF_H

#include "bpf/include/detail.bpf.h"

#define ETH_P_IP_BE bpf_htons(0x0800)
#define ETH_P_IPV6_BE bpf_htons(0x86dd)

/* The socket that an arriving packet belongs to, found by its headers. */
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
	flow.protocol = protocol_of(skb);
	bpf_probe_read_kernel(&flow.sport, 2, head + transport);
	bpf_probe_read_kernel(&flow.dport, 2, head + transport + 2);
	cookie = bpf_map_lookup_elem(&flows, &flow);
	return cookie ? *cookie : 0;
}

/* The number of its book; 0: it has none. */
static __always_inline u32 number_of_skb(const struct sk_buff *skb)
{
	u32 number = book_number(cookie_of(POINTER_IN(sk_buff, skb, sk)));
	struct pin *pin;
	u64 uarg;

	if (number)
		return number;
	uarg = uarg_of(skb);
	pin = uarg ? bpf_map_lookup_elem(&pins, &uarg) : NULL;
	return book_number(pin ? pin->cookie : cookie_of_flow(skb));
}

#endif
