// SPDX-License-Identifier: GPL-2.0
/* Which user pages does a zero-copy send attach to its skbs, and how many stay pinned? */
#include "bpf/include/gate.bpf.h"

/* pid_tgid -> frags of the skb when the attaching call began */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} frags_before SEC(".maps");

/* Read after the add, not with it (compat.bpf.h). Pages that another CPU releases in between are
 * missing from the peak: it may be too low by them, never too high. */
static __always_inline void note_outstanding(u64 pages)
{
	volatile unsigned long long *outstanding = &gauges.outstanding_pages;
	unsigned long long *peak = &this_cpu()->peak_pages, now;

	add(&gauges.outstanding_pages, pages);
	now = *outstanding;
	if (now > *peak)
		*peak = now;
}

/* Most packets are empty here, and need no note. */
SEC("?fentry/skb_zerocopy_iter_stream")
int BPF_PROG(reference_enter, struct sock *sk, struct sk_buff *skb)
{
	if (window_open() && skb->data_len && book_number(cookie_of(sk)))
		task_note(&frags_before, frags_head_of(skb).count);
	return 0;
}

/* An existing entry is written in place. An update would put another element there, and the old
 * one would serve the next update of this CPU (kernel/bpf/hashtab.c, extra_elems): a program on
 * another CPU that has just looked the entry up, to charge a packet in flight, would read
 * another socket. */
static __always_inline void pin_add(u64 uarg, u64 cookie, u64 pages)
{
	u16 sends = notification_sends((void *)uarg);
	struct pin fresh = { .cookie = cookie, .pages = pages, .sends = sends, .clean = true };
	struct pin *pin = bpf_map_lookup_elem(&pins, &uarg);

	if (!pin) {
		if (bpf_map_update_elem(&pins, &uarg, &fresh, BPF_NOEXIST))
			note_lost_update();
		return;
	}
	/* The memory of an earlier notification, whose end was not seen, is in use again. */
	if (pin->cookie != cookie) {
		pin->pages = 0;
		pin->cookie = cookie;
		pin->clean = true;
	}
	pin->sends = sends;
	add(&pin->pages, pages);
}

/* Each new frag holds one page reference: pages of one folio that lie side by side are merged into
 * a frag and their extra references dropped (net/core/datagram.c, zerocopy_fill_skb_from_iter).
 * FOLL_PIN is not used, and mm_account_pinned_pages is a worst case that is skipped for
 * CAP_IPC_LOCK, so neither gives this number. */
static __always_inline int reference_done(struct sock *sk, struct sk_buff *skb, u64 uarg, int ret)
{
	u64 cookie = cookie_of(sk), pages;
	struct books *b = books_find(cookie);

	if (!b || ret <= 0)
		return 0;
	pages = frags_head_of(skb).count;
	if (skb->data_len != ret) {
		u64 *before = task_noted(&frags_before);

		pages = before ? pages - *before : 0;
	}
	site_add(b, SITE_tx_reference, ret);
	count(b, COUNT_pinned_pages, pages);
	note_outstanding(pages);
	pin_add(uarg, cookie, pages);
	return 0;
}

SEC("?fexit/skb_zerocopy_iter_stream")
int BPF_PROG(reference_exit_5, struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int len,
	     struct ubuf_info *uarg, int ret)
{
	return window_open() ? reference_done(sk, skb, (u64)uarg, ret) : 0;
}

/* 6.17 added the devmem binding (bd61848900bf, "net: devmem: Implement TX path"). */
SEC("?fexit/skb_zerocopy_iter_stream")
int BPF_PROG(reference_exit_6, struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int len,
	     struct ubuf_info *uarg, void *binding, int ret)
{
	return window_open() ? reference_done(sk, skb, (u64)uarg, ret) : 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
