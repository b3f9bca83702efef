/* SPDX-License-Identifier: GPL-2.0 */
/* What an skb, its notification and its socket tell by themselves, without any map. */
#ifndef COPYSCOPE_SKB_BPF_H
#define COPYSCOPE_SKB_BPF_H

#include "bpf/include/compat.bpf.h"

#define AF_INET6_FAMILY 10
#define IPPROTO_TCP_NUMBER 6
#define IPPROTO_UDP_NUMBER 17
#define MSG_ZEROCOPY_FLAG 0x4000000
#define NO_SUCH_HEADER 0xffff
#define NETDEV_TX_BUSY 0x10

static __always_inline bool is_tcp(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_TCP_NUMBER;
}

static __always_inline bool is_udp(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_UDP_NUMBER;
}

#define IPV4_PROTOCOL_OFFSET 9
#define IPV6_PROTOCOL_OFFSET 6

/* IPPROTO_* of a packet that has its IP header. */
static __always_inline u8 protocol_of(const struct sk_buff *skb)
{
	u8 ip[10] = {};

	bpf_probe_read_kernel(ip, sizeof(ip), skb->head + skb->network_header);
	return ip[ip[0] >> 4 == 6 ? IPV6_PROTOCOL_OFFSET : IPV4_PROTOCOL_OFFSET];
}

static __always_inline struct skb_shared_info *shinfo_of(const struct sk_buff *skb)
{
	return (void *)(skb->head + skb->end);
}

/* The notification of this skb's user pages, or 0. Valid only until the pages are copied or
 * released: read it on entry. */
static __always_inline u64 uarg_of(const struct sk_buff *skb)
{
	if (!frags_head_of(skb).users)
		return 0;
	return (u64)BPF_CORE_READ(shinfo_of(skb), destructor_arg);
}

/* Of a socket that the verifier does not know. */
static __always_inline u64 cookie_at(const struct sock *sk)
{
	return casts_known ? cookie_of(TYPED(sock, sk)) :
			     BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
}

/* The kernel keeps a notification of MSG_ZEROCOPY in the cb of an skb of the sender's own, which names
 * the socket (net/core/skbuff.c, msg_zerocopy_alloc). Those of others, as io_uring, lie elsewhere. */
static __always_inline const struct sk_buff *holder_of(u64 uarg)
{
	return (const void *)(uarg - bpf_core_field_offset(struct sk_buff, cb));
}

/* The socket of a notification that no hook saw begin. That of another kind yields a cookie without a
 * book. */
static __always_inline u64 cookie_of_holder(u64 uarg)
{
	return BPF_CORE_READ(holder_of(uarg), sk, __sk_common.skc_cookie.counter);
}

/* Set before load: UDP sockets have books, too. */
const volatile bool datagrams_wanted __weak = false;

#define UDP_HEADER_BYTES 8

/* Bytes from skb->data to the payload of a datagram: 0 when the headers were pulled. */
static __always_inline u32 datagram_header_bytes(const struct sk_buff *skb)
{
	long offset = skb->head + skb->transport_header + UDP_HEADER_BYTES - skb->data;

	return offset > 0 ? offset : 0;
}

/* Bytes from skb->data to the payload: 0 when the headers were pulled or never there. */
static __always_inline u32 header_bytes(const struct sk_buff *skb)
{
	unsigned char *head = skb->head;
	u16 transport = skb->transport_header;
	long offset = head + transport - skb->data;
	u8 doff = 0;

	if (transport == NO_SUCH_HEADER || offset < 0)
		return 0;
	if (datagrams_wanted && protocol_of(skb) == IPPROTO_UDP_NUMBER)
		return datagram_header_bytes(skb);
	bpf_probe_read_kernel(&doff, 1, head + transport + 12);
	return offset + (doff >> 4) * 4;
}

/* Bytes of [offset, offset + len) that lie in frags, where they may be the user's. */
static __always_inline u64 bytes_in_frags(const struct sk_buff *skb, long offset, long end)
{
	long first = skb->len - skb->data_len;

	if (offset > first)
		first = offset;
	return end > first ? end - first : 0;
}

/* Of TCP_ZEROCOPY_RECEIVE, where it succeeded: .length was mapped, .copybuf_len copied, .recv_skip_hint left to recv. */
static __always_inline bool found_bytes(const struct tcp_zerocopy_receive *zc)
{
	return zc->length || zc->recv_skip_hint ||
	       (bpf_core_field_exists(zc->copybuf_len) && zc->copybuf_len > 0);
}

/* What an ICMP error quotes of a packet that this host or a router refuses begins with its headers,
 * and the packet's pages end elsewhere. Other copies that sum as they go hold payload alone
 * (skb_segment). */
static __always_inline bool quoted(const struct sk_buff *skb, int offset)
{
	return offset < (long)header_bytes(skb);
}

/* True if net_dev_queue has seen the packet: __dev_queue_xmit sets the MAC header just before. A
 * packet without a route, or whose neighbour did not answer, never left the socket for these books.
 * Nor did the pieces that IP cut for an MTU that had shrunk; they begin with their network header.
 * All packets of a device without a link layer, such as tun, begin so, too: there such pieces count
 * as having left. */
static __always_inline bool has_left(const struct sk_buff *skb)
{
	if (skb->mac_header == NO_SUCH_HEADER)
		return false;
	return skb->mac_header != skb->network_header || !BPF_CORE_READ(skb, dev, hard_header_len);
}

#define DST_WITHOUT_REFERENCE 1ul /* SKB_DST_NOREF */

/* Is IPsec at work on a packet on its way out, before it has left, this machine or its router? skb_gso_segment() has it
 * begin with its network header then. In TCP's own queues, where no packet has headers, its route is something else
 * (tcp_tsorted_anchor). */
static __always_inline bool is_being_encrypted(const struct sk_buff *skb)
{
	const struct dst_entry *route = (void *)(skb->_skb_refdst & ~DST_WITHOUT_REFERENCE);

	return skb->transport_header != NO_SUCH_HEADER && bpf_core_field_exists(route->xfrm) && BPF_CORE_READ(route, xfrm);
}

#endif
