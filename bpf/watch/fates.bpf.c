// SPDX-License-Identifier: GPL-2.0
/*
 * What became of zero copy, by the functions where it fails: pages copied after all, sends refused.
 * For kernels with trampolines; sends without MSG_ZEROCOPY pass none of these.
 */
#include "bpf/watch/queues.bpf.h"

#define NOTIFIED_SENDS_MOST (0xffff - 1)	/* msg_zerocopy_realloc() */
#define NOTIFIED_BYTES_MOST (1 << 19)

static __always_inline int copied_late(const struct sk_buff *skb, u64 bytes)
{
	struct watch_slot *slot = slot_of_pages(skb);

	if (slot)
		__sync_fetch_and_add(&slot->late_copied, bytes);
	else if (frags_head_of(skb).users)
		gauge_add(&watch_gauges.orphan_late_bytes, bytes);
	return 0;
}

/* On entry, because the copy lets go of the notification. The call does not change data_len. */
SEC("?fentry/skb_copy_ubufs")
int BPF_PROG(watch_late_copy, struct sk_buff *skb)
{
	return copied_late(skb, skb->data_len);
}

/* Without memory nothing was copied, and the packet still has its notification. */
SEC("?fexit/skb_copy_ubufs")
int BPF_PROG(watch_late_copy_failed, struct sk_buff *skb, unsigned int gfp, int ret)
{
	return ret ? copied_late(skb, -(u64)skb->data_len) : 0;
}

/* Called where captures run alone: they get a clone, whose user pages are copied. */
SEC("?fentry/dev_queue_xmit_nit")
int BPF_PROG(watch_tap, struct sk_buff *skb)
{
	struct watch_slot *slot = slot_of_pages(skb);

	if (slot)
		__sync_fetch_and_add(&slot->tapped, skb->data_len);
	return 0;
}

/* Was the notification of the send before to serve for this one, too? That needs no option memory. A refusal
 * leaves all of it as it was; one that is not the socket's own is io_uring's, and never extended. */
static __always_inline bool was_extension(const struct sock *sk, size_t size, const void *uarg)
{
	const struct sk_buff *holder = uarg - bpf_core_field_offset(struct sk_buff, cb);
	const struct ubuf_info_msgzc *n = uarg;
	u32 sends;

	if (!uarg)
		return false;
	if (BPF_CORE_READ(holder, sk) != sk)
		return true;
	sends = BPF_CORE_READ(n, len);
	return sends != NOTIFIED_SENDS_MOST &&
	       BPF_CORE_READ(n, bytelen) + (u32)size <= NOTIFIED_BYTES_MOST &&
	       BPF_CORE_READ(n, id) + sends == (u32)sk->sk_zckey.counter;
}

/* A zero-copy send that gets no notification fails with ENOBUFS: for want of option memory, or else of
 * pages that the user may pin. Then the kernel frees the new notification, if it made one (watch_drop). */
static __always_inline int refused(const struct sock *sk, size_t size, const void *uarg)
{
	struct watch_slot *slot = slot_find(cookie_of(sk));

	if (!slot)
		return 0;
	if (slot->unpinned || was_extension(sk, size, uarg))
		__sync_fetch_and_add(&slot->refused_memlock, 1);
	else
		__sync_fetch_and_add(&slot->refused_optmem, 1);
	slot->unpinned = 0;
	return 0;
}

SEC("?fexit/msg_zerocopy_realloc")
int BPF_PROG(watch_realloc_3, struct sock *sk, size_t size, void *uarg, void *ret)
{
	return ret ? 0 : refused(sk, size, uarg);
}

/* bd61848900bf ("net: devmem: Implement TX path"): one argument more. */
SEC("?fexit/msg_zerocopy_realloc")
int BPF_PROG(watch_realloc_4, struct sock *sk, size_t size, void *uarg, bool devmem, void *ret)
{
	return ret ? 0 : refused(sk, size, uarg);
}

char LICENSE[] SEC("license") __weak = "GPL";
