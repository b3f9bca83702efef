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

/* Where the kernel keeps the socket of a notification that no hook saw begin: in the cb of an skb of
 * the sender's own (net/core/skbuff.c, msg_zerocopy_alloc). Anything else yields a cookie without a
 * book. */
static __always_inline u64 cookie_of_holder(u64 uarg)
{
	struct sk_buff *holder = (void *)(uarg - bpf_core_field_offset(struct sk_buff, cb));

	return BPF_CORE_READ(holder, sk, __sk_common.skc_cookie.counter);
}

#endif
