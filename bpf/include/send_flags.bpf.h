/* SPDX-License-Identifier: GPL-2.0 */
/* What a send asked for and what the kernel did, for both backends. */
#ifndef COPYSCOPE_SEND_FLAGS_BPF_H
#define COPYSCOPE_SEND_FLAGS_BPF_H

#include "bpf/include/detail.bpf.h"

#define ENOBUFS_RET -105
#define NETIF_F_SG_FLAG 1 /* include/linux/netdev_features.h, the first bit */

/* The kernel ignores MSG_ZEROCOPY without SO_ZEROCOPY and returns no error (5cf4a85, "tcp: really
 * ignore MSG_ZEROCOPY if no SO_ZEROCOPY"). */
static __always_inline bool zerocopy_enabled(const struct sock *sk)
{
	return sk->__sk_common.skc_flags >>
		       bpf_core_enum_value(enum sock_flags, SOCK_ZEROCOPY) & 1;
}

/* True if a send asks for zero copy on a route without scatter-gather, and so copies. TCP decides
 * before its loop, and the route may have changed when the call returns: a retransmission that
 * finds no route removes all features of the device from the socket (inet_sk_rebuild_header). */
static __always_inline bool must_copy(const struct sock *sk, u32 msg_flags)
{
	return msg_flags & MSG_ZEROCOPY_FLAG && !(sk->sk_route_caps & NETIF_F_SG_FLAG);
}

/* io_uring's sends bring a notification of their own, and need no SO_ZEROCOPY. */
static __always_inline bool brings_notification(const struct msghdr *msg)
{
	return bpf_core_field_exists(msg->msg_ubuf) && POINTER_IN(msghdr, msg, msg_ubuf);
}

/* Counts a send with MSG_ZEROCOPY that returned @ret bytes (or errno); @copies: the result of must_copy() when the
 * call began; @ring: of brings_notification(). */
static __always_inline void count_zerocopy_send(struct books *b, const struct sock *sk, bool copies, bool ring,
						int ret)
{
	count(b, COUNT_zerocopy_asked_sends, 1);
	if (ret == ENOBUFS_RET)
		count(b, COUNT_enobufs, 1);
	if (ret <= 0)
		return;
	if (!ring && !zerocopy_enabled(sk)) {
		count(b, COUNT_unset_sends, 1);
		count(b, COUNT_unset_bytes, ret);
		return;
	}
	count(b, COUNT_zerocopy_sends, 1);
	count(b, COUNT_zerocopy_bytes, ret);
	if (copies) {
		count(b, COUNT_nosg_sends, 1);
		count(b, COUNT_nosg_bytes, ret);
	}
}

#endif
