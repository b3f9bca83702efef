/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets of the subject that no book is kept of: how many of each kind there were. */
#ifndef COPYSCOPE_UNCOVERED_BPF_H
#define COPYSCOPE_UNCOVERED_BPF_H

#include "bpf/include/datagram.bpf.h"

/* include/linux/socket.h, include/uapi/linux/in.h */
enum {
	FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10, FAMILY_NETLINK = 16, FAMILY_PACKET = 17, FAMILY_VSOCK = 40,
	FAMILY_SMC = 43, FAMILY_XDP = 44, TYPE_RAW = 3, PROTOCOL_SCTP = 132, PROTOCOL_SMC = 256,
};

/* Cookie of a socket -> its kind: each is counted once. Where the table is full, some are not. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, u32);
} uncovered SEC(".maps") __weak;

/* WATCH_UNCOVERED_COUNT: it is covered, or asks the kernel and carries no payload. */
static __always_inline u32 uncovered_kind(const struct sock *sk)
{
	u16 family = sk->__sk_common.skc_family, protocol = sk->sk_protocol;

	switch (family) {
	case FAMILY_UNIX:
		return WATCH_UNCOVERED_UNIX;
	case FAMILY_VSOCK:
		return WATCH_UNCOVERED_VSOCK;
	case FAMILY_SMC:
		return WATCH_UNCOVERED_SMC;
	case FAMILY_XDP:
		return WATCH_UNCOVERED_XDP;
	case FAMILY_PACKET:
		return WATCH_UNCOVERED_PACKET;
	case FAMILY_NETLINK:
		return WATCH_UNCOVERED_COUNT;
	case FAMILY_INET:
	case FAMILY_INET6:
		break;
	default:
		return WATCH_UNCOVERED_OTHER;
	}
	if (sk->sk_type == TYPE_RAW)
		return WATCH_UNCOVERED_RAW;
	if (protocol == PROTOCOL_SCTP)
		return WATCH_UNCOVERED_SCTP;
	if (protocol == PROTOCOL_SMC)
		return WATCH_UNCOVERED_SMC;
	return protocol == IPPROTO_TCP_NUMBER || protocol == IPPROTO_UDP_NUMBER || protocol == IPPROTO_MPTCP_NUMBER ?
		       WATCH_UNCOVERED_COUNT : WATCH_UNCOVERED_OTHER;
}

/* A task of the subject holds or reads the socket. */
static __always_inline void uncovered_note(struct sock *sk)
{
	u32 kind = uncovered_kind(sk);
	u64 cookie = kind < WATCH_UNCOVERED_COUNT ? bpf_get_socket_cookie(sk) : 0;

	if (cookie && !bpf_map_update_elem(&uncovered, &cookie, &kind, BPF_NOEXIST) && kind < WATCH_UNCOVERED_COUNT)
		gauge_add(&watch_gauges.uncovered[kind], 1);
}

/* A send to an MPTCP socket has ended, whose bytes are copied whatever it asks for: mptcp_sendmsg() drops MSG_ZEROCOPY and
 * MSG_SPLICE_PAGES. Sockets of TCP below it carry them. */
static __always_inline void mptcp_copies(const struct sock *sk, int ret)
{
	if (ret > 0 && window_is_open && !ports_decide() && datagram_is_wanted(sk))
		gauge_add(&watch_gauges.mptcp_copied, ret);
}

/* A receive has ended. Who reads by no port is of no subject that ports name. */
static __always_inline void uncovered_received(struct sock *sk, int ret)
{
	if (ret > 0 && window_is_open && !ports_decide() &&
	    uncovered_kind(sk) < WATCH_UNCOVERED_COUNT && datagram_is_wanted(sk) && !current_is_a_watch())
		uncovered_note(sk);
}

#endif
