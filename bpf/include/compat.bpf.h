/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What changed between kernels in the fields that the probes read: one helper a change, with its
 * commit.
 *
 * Each asks the running kernel's BTF (CO-RE) or a constant set before load, so the verifier sees
 * one answer and drops the other. Where a function has another name or other arguments there is a
 * program for each form instead; userspace/engine/hooks.c lists them. The oldest kernel is 6.1.
 */
#ifndef COPYSCOPE_COMPAT_BPF_H
#define COPYSCOPE_COMPAT_BPF_H

#include "bpf/include/casts.bpf.h"
#include "vmlinux/vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define OF_KERNEL __attribute__((preserve_access_index))

/* For pointers that the verifier knows (arguments and their members): plain loads, no helper. */
static __always_inline u64 cookie_of(const struct sock *sk)
{
	const struct sock *asked = sk;

	/* The compiler would read other fields of no socket by a null that no verifier takes for one. */
	barrier_var(asked);
	return asked ? sk->__sk_common.skc_cookie.counter : 0;
}

#define SKBFL_ZEROCOPY_ENABLE 1
#define SKBFL_MANAGED_FRAG_REFS 16 /* 6.0 */

/* What the first bytes of a packet's shared info tell of its frags. */
struct frags_head {
	bool users;	/* pages of a user, not of the kernel */
	bool registered;	/* with io_uring, which holds them: the packet has no reference to them */
	u8 count;
};

/* One read for both, because each is a call. */
static __always_inline struct frags_head frags_head_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = (void *)(skb->head + skb->end);
	struct frags_head head = {};
	u64 bytes = 0;

	bpf_probe_read_kernel(&bytes, sizeof(bytes), shinfo);
	head.count = bytes >> 8 * bpf_core_field_offset(shinfo->nr_frags);
	bytes >>= 8 * bpf_core_field_offset(shinfo->flags);
	head.users = bytes & SKBFL_ZEROCOPY_ENABLE;
	head.registered = bytes & SKBFL_MANAGED_FRAG_REFS;
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

/* Sends that a notification stands for, and whether none was copied. */
static __always_inline u16 notification_sends(const void *uarg)
{
	const struct ubuf_info_msgzc *notification = uarg;

	return BPF_CORE_READ(notification, len);
}

static __always_inline bool notification_clean(const void *uarg)
{
	const struct ubuf_info_msgzc *notification = uarg;

	return BPF_CORE_READ_BITFIELD_PROBED(notification, zerocopy);
}

#endif
