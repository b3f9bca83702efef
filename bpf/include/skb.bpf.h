/* SPDX-License-Identifier: GPL-2.0 */
/* What an skb, its notification and its socket tell by themselves, without any map. */
#ifndef COPYSCOPE_SKB_BPF_H
#define COPYSCOPE_SKB_BPF_H

#include "bpf/include/compat.bpf.h"

#define AF_INET6_FAMILY 10
#define IPPROTO_TCP_NUMBER 6
#define MSG_ZEROCOPY_FLAG 0x4000000
#define NO_SUCH_HEADER 0xffff

static __always_inline bool is_tcp(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_TCP_NUMBER;
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

#endif
