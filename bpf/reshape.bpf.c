// SPDX-License-Identifier: GPL-2.0
/*
 * Is payload moved inside the kernel: pulled into the linear part, collapsed, coalesced?
 *
 * Every such move goes through skb_copy_bits (__pskb_pull_tail, skb_try_coalesce, tcp_collapse,
 * skb_segment, skb_copy), or through skb_copy_and_csum_bits where the device cannot checksum
 * either (skb_segment), so two hooks count each byte once.
 */
#include "bpf/include/cause.bpf.h"
#include "bpf/include/owner.bpf.h"

static __always_inline int reshaped(void *ctx, u32 arguments, const struct sk_buff *skb, int offset,
				    int len, bool ends_pages)
{
	long start, end = (long)offset + len;
	struct books *b, *owner;
	u64 referenced;

	if (!window_open() || len <= 0)
		return 0;
	b = books_of_skb(skb);
	if (!b)
		return 0;
	start = header_bytes(skb);
	if (offset > start)
		start = offset;
	if (end > start) {
		site_add(b, SITE_reshape, end - start);
		charge_cause(ctx, arguments, SITE_reshape, 0, end - start, 1);
	}
	referenced = bytes_in_frags(skb, offset, end);
	owner = referenced && ends_pages ? books_of_pages(skb) : NULL;
	if (!owner || !has_left(skb))
		return 0;
	count(owner, COUNT_reshaped_referenced_bytes, referenced);
	xmit_take_back(skb, referenced);
	return 0;
}

SEC("?fexit/skb_copy_bits")
int BPF_PROG(reshape_exit, struct sk_buff *skb, int offset, void *to, int len, int ret)
{
	return ret ? 0 : reshaped(ctx, 4, skb, offset, len, true);
}

/* Cannot fail, and its arguments have changed: on entry only the first four are read. */
SEC("?fentry/skb_copy_and_csum_bits")
int BPF_PROG(reshape_csum, struct sk_buff *skb, int offset, void *to, int len)
{
	return reshaped(ctx, 0, skb, offset, len, !quoted(skb, offset));
}

char LICENSE[] SEC("license") __weak = "GPL";
