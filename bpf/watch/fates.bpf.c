// SPDX-License-Identifier: GPL-2.0
/*
 * What became of zero copy, by the functions where it fails: pages copied after all, sends refused.
 * For kernels with trampolines; sends without MSG_ZEROCOPY pass none of these.
 */
#include "bpf/watch/queues.bpf.h"

/* pid_tgid -> 1 if the kernel just refused that task option memory */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u64);
} without_optmem SEC(".maps");

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

/* Called for notifications alone. */
SEC("?fexit/sock_omalloc")
int BPF_PROG(watch_optmem, struct sock *sk, unsigned long size, unsigned int gfp, void *ret)
{
	u64 task = bpf_get_current_pid_tgid(), refused = 1;

	if (!ret)
		bpf_map_update_elem(&without_optmem, &task, &refused, BPF_ANY);
	return 0;
}

/* A zero-copy send that gets no notification fails with ENOBUFS: for want of option memory, or else of
 * pages that the user may pin. */
static __always_inline int refused(const struct sock *sk)
{
	u64 task = bpf_get_current_pid_tgid();
	bool optmem = !bpf_map_delete_elem(&without_optmem, &task);
	struct watch_slot *slot = slot_find(cookie_of(sk));

	if (!slot)
		return 0;
	if (optmem)
		__sync_fetch_and_add(&slot->refused_optmem, 1);
	else
		__sync_fetch_and_add(&slot->refused_memlock, 1);
	return 0;
}

SEC("?fexit/msg_zerocopy_realloc")
int BPF_PROG(watch_realloc_3, struct sock *sk, size_t size, void *uarg, void *ret)
{
	return ret ? 0 : refused(sk);
}

/* bd61848900bf ("net: devmem: Implement TX path"): one argument more. */
SEC("?fexit/msg_zerocopy_realloc")
int BPF_PROG(watch_realloc_4, struct sock *sk, size_t size, void *uarg, bool devmem, void *ret)
{
	return ret ? 0 : refused(sk);
}

char LICENSE[] SEC("license") __weak = "GPL";
