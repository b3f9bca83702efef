/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What changed between kernels in the fields that the probes read: one helper a change, with its
 * commit.
 *
 * Each asks the running kernel's BTF (CO-RE) or a constant set before load, so the verifier sees
 * one answer and drops the other. Where a function has another name or other arguments there is a
 * program for each form instead; userspace/probes/hooks/hooks.c lists them. All programs use the
 * plain atomic add only: 5.12 brought adds that return a value and compare-and-exchange
 * (5ca419f2864a, "bpf: Add BPF_FETCH field / create atomic_fetch_add instruction"), and before it
 * the verifier refuses a program that contains one, even where it is never reached.
 */
#ifndef COPYSCOPE_COMPAT_BPF_H
#define COPYSCOPE_COMPAT_BPF_H

#include "vmlinux/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define OF_KERNEL __attribute__((preserve_access_index))

/* Set before load: the kernel has bpf_get_socket_cookie for these programs. */
const volatile bool cookies_on_demand __weak = false;

/* For pointers that the verifier knows (arguments and their members): plain loads, no helper. */
static __always_inline u64 cookie_of(const struct sock *sk)
{
	return sk ? sk->__sk_common.skc_cookie.counter : 0;
}

/* c5dbb89fc2ac ("bpf: Expose bpf_get_socket_cookie to tracing programs"), 5.12: the helper gives a
 * socket its cookie if it has none. Before, only its process can request one (SO_COOKIE), as our
 * workload does for each socket; 0 if it did not. */
static __always_inline u64 cookie_made(struct sock *sk)
{
	return cookies_on_demand ? bpf_get_socket_cookie(sk) : cookie_of(sk);
}

#define SKBFL_ZEROCOPY_ENABLE 1
#define SKBTX_DEV_ZEROCOPY 8

struct skb_shared_info___tx_flags {
	u8 tx_flags;
} OF_KERNEL;

/* What the first bytes of a packet's shared info tell of its frags. */
struct frags_head {
	bool users;	/* pages of a user, not of the kernel */
	u8 count;
};

/* 06b4feb37e64 ("net: group skb_shinfo zerocopy related bits together."), 5.12: the flag of user
 * pages moved out of tx_flags. One read for all, because each is a call. */
static __always_inline struct frags_head frags_head_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = (void *)(skb->head + skb->end);
	const struct skb_shared_info___tx_flags *old = (const void *)shinfo;
	struct frags_head head = {};
	u64 bytes = 0;

	bpf_probe_read_kernel(&bytes, sizeof(bytes), shinfo);
	head.count = bytes >> 8 * bpf_core_field_offset(shinfo->nr_frags);
	if (bpf_core_field_exists(shinfo->flags))
		head.users = bytes >> 8 * bpf_core_field_offset(shinfo->flags) & SKBFL_ZEROCOPY_ENABLE;
	else
		head.users = bytes >> 8 * bpf_core_field_offset(old->tx_flags) & SKBTX_DEV_ZEROCOPY;
	return head;
}

struct page___head {
	unsigned long compound_head;
} OF_KERNEL;

struct page___info {
	unsigned long compound_info;
} OF_KERNEL;

/* In the highest 4 GiB lie no structs of pages: what is there is a mask. */
#define MASKS_FROM 0xffffffff00000000ull

/* A page behind the first one of a folio has bit 0 set, and beside it the address of the first. 7.2 has
 * the field by another name, and in place of the address a mask where structs of pages are aligned for
 * that (_compound_head in include/linux/page-flags.h). */
static __always_inline const struct page *page_head(u64 page)
{
	const struct page___head *old = (void *)page;
	const struct page___info *now = (void *)page;
	u64 info;

	if (bpf_core_field_exists(now->compound_info))
		info = BPF_CORE_READ(now, compound_info);
	else
		info = BPF_CORE_READ(old, compound_head);
	if (!(info & 1))
		return (void *)page;
	return (void *)(info >= MASKS_FROM ? page & info : info - 1);
}

struct ubuf_info___whole {
	u16 len;
	u16 zerocopy : 1;
} OF_KERNEL;

/* e7d2b510165f ("net: shrink struct ubuf_info"), 6.1: what MSG_ZEROCOPY alone needs moved to a
 * struct around it. Sends that the notification stands for, and whether none was copied. */
static __always_inline u16 notification_sends(const void *uarg)
{
	const struct ubuf_info_msgzc *now = uarg;
	const struct ubuf_info___whole *old = uarg;

	return bpf_core_type_exists(struct ubuf_info_msgzc) ? BPF_CORE_READ(now, len) :
							      BPF_CORE_READ(old, len);
}

static __always_inline bool notification_clean(const void *uarg)
{
	const struct ubuf_info_msgzc *now = uarg;
	const struct ubuf_info___whole *old = uarg;

	return bpf_core_type_exists(struct ubuf_info_msgzc) ?
		       BPF_CORE_READ_BITFIELD_PROBED(now, zerocopy) :
		       BPF_CORE_READ_BITFIELD_PROBED(old, zerocopy);
}

#endif
