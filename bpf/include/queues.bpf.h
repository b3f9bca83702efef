/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies in a socket's queues: user pages and spliced pages not acknowledged yet, notifications.
 *
 * Unsent packets are a list, unacknowledged ones a tree. The tree is walked one hop at a time: nested
 * loops are more than the verifier follows.
 */
#ifndef COPYSCOPE_QUEUES_BPF_H
#define COPYSCOPE_QUEUES_BPF_H

#include "bpf/include/book.bpf.h"

#define SKBFL_SHARED_FRAG 2
#define SKBFL_PURE_ZEROCOPY 4
#define SO_EE_ORIGIN_ZEROCOPY_NUMBER 5
#define SO_EE_CODE_COPIED 1

enum { WALK_HOPS = 1 << 17, FRAGS_MOST = 45 /* of CONFIG_MAX_SKB_FRAGS */ };

/* The start of a frag is the same in all its forms: struct bio_vec (5.4), with a netmem_ref in place of
 * the page (21d2e6737c97, "net: add netmem to skb_frag_t", 6.9). */
struct frag {
	u64 page;
	u32 bytes;
	u32 offset;
};

struct walk {
	u64 node;	/* of the tree, or packet of the list */
	u64 end;	/* the head of the list */
	u32 move;	/* from which side the node was reached */
	u32 done;
	u32 unsent;	/* in the list, not in the tree */
	u32 first_id;
	u32 id_known;
	u32 pages;
	u32 mixed;
	u32 spliced_in_window;
	u32 may_be_joined;	/* the last unsent packet has pages of a process and no reference, which a send may add */
	u64 referenced, unsent_referenced, spliced;
	u64 sk;
};

/* The walk that is under way: readers walk one after the other. On the stack the verifier would know each sum, and follow
 * it as it grows. */
static struct walk walked;

enum { MOVE_DOWN, MOVE_VISIT, MOVE_UP };

#define MAPPING_IS_ANON 1 /* include/linux/page-flags.h: FOLIO_MAPPING_ANON, PAGE_MAPPING_ANON before */

/* Pages of a process may have come by vmsplice. */
static __always_inline bool has_spliced(const struct watch_slot *slot)
{
	return slot->sent_as[WATCH_KIND_SPLICE] || slot->kind == WATCH_KIND_SPLICE;
}

/* What maps a page: a process (its lowest bit is set), a file, or nothing if the kernel took it for a
 * copy. */
static __always_inline u64 mapping_of(u64 ref)
{
	const struct page *page = page_head(ref & ~1ull);

	return (u64)BPF_CORE_READ(page, mapping);
}

struct folio___order {
	unsigned long _flags_1;
} OF_KERNEL;

struct page___order {
	unsigned char compound_order;
} OF_KERNEL;

enum pageflags___zeros { PG_reserved___zeros = 1, PG_head___zeros = 2 };

#define COPIES_ORDER_MOST 3	/* SKB_FRAG_PAGE_ORDER: skb_page_frag_refill() */

/* The first page of a folio says in the second one how many there are. */
static __always_inline u32 order_of(const struct page *head)
{
	const struct folio___order *folio = (void *)head;
	const struct page___order *second = (void *)head + bpf_core_type_size(struct page);

	if (bpf_core_field_exists(folio->_flags_1))
		return BPF_CORE_READ(folio, _flags_1) & 0xff;
	return bpf_core_field_exists(second->compound_order) ? BPF_CORE_READ(second, compound_order) : 0;
}

/* Memory that a process never wrote to is read from pages of zeros, which nothing maps: one in the kernel's own
 * image, and a huge one. */
static __always_inline bool is_zeros(u64 ref)
{
	const struct page *page = page_head(ref & ~1ull);
	u64 flags = 0;

	/* They come first, in a type of their own since 6.18. */
	bpf_probe_read_kernel(&flags, sizeof(flags), page);
	if (flags >> bpf_core_enum_value(enum pageflags___zeros, PG_reserved___zeros) & 1)
		return true;
	return flags >> bpf_core_enum_value(enum pageflags___zeros, PG_head___zeros) & 1 && order_of(page) > COPIES_ORDER_MOST;
}

/* Bytes of a packet by what maps their pages. */
struct mapped {
	u32 process, process_pages;
	u32 file;
};

struct frags_walk {
	u64 frags;
	struct mapped m;
	u32 unused;
};

static long frag_hop(u32 i, void *arg)
{
	struct frags_walk *w = arg;
	struct frag frag = {};
	u64 mapping;

	bpf_probe_read_kernel(&frag, sizeof(frag), (void *)w->frags + i * sizeof(frag));
	mapping = mapping_of(frag.page);
	if (mapping & MAPPING_IS_ANON || (!mapping && is_zeros(frag.page))) {
		w->m.process += frag.bytes;
		w->m.process_pages++;
	} else if (mapping) {
		w->m.file += frag.bytes;
	}
	return 0;
}

/* A call for each frag: the verifier of 6.1 follows no loop with these branches to its end. */
static __always_inline struct mapped mapped_bytes(const void *shinfo, u32 count)
{
	struct frags_walk w = { .frags = (u64)shinfo + bpf_core_field_offset(struct skb_shared_info, frags) };

	bpf_loop(count < FRAGS_MOST ? count : FRAGS_MOST, frag_hop, &w, 0);
	return w.m;
}

/* Notifications of io_uring's have no number; those of the socket lie in a packet of its own. */
static __always_inline void id_note(struct walk *w, const void *uarg)
{
	const struct ubuf_info_msgzc *numbered = uarg;
	const struct sk_buff *holder = holder_of((u64)uarg);

	if ((u64)BPF_CORE_READ(holder, sk) != w->sk)
		return;
	w->first_id = BPF_CORE_READ(numbered, id);
	w->id_known = 1;
}

/* Copied bytes and spliced ones may share a packet with user pages. Pages of a file may be spliced, or
 * be memory of the process, and so may pages of a process be: such a packet is MIXED. */
static __always_inline void walk_visit(struct walk *w, const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo;
	u32 data = BPF_CORE_READ(skb, data_len), bytes;
	struct mapped m = {};
	u8 flags, count;

	shinfo = (void *)BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end);
	flags = BPF_CORE_READ(shinfo, flags);
	w->may_be_joined = 0;
	if (!(flags & (SKBFL_ZEROCOPY_ENABLE | SKBFL_SHARED_FRAG)))
		return;
	count = BPF_CORE_READ(shinfo, nr_frags);
	if (!(flags & SKBFL_PURE_ZEROCOPY))
		m = mapped_bytes(shinfo, count);
	if (!(flags & SKBFL_ZEROCOPY_ENABLE)) {
		w->spliced += m.process + m.file;
		w->may_be_joined = w->unsent && m.process;
		return;
	}
	bytes = flags & SKBFL_PURE_ZEROCOPY ? data : m.process;
	w->spliced += m.file;
	w->mixed |= m.file || (m.process && w->spliced_in_window);
	w->referenced += bytes;
	w->unsent_referenced += w->unsent ? bytes : 0;
	w->pages += flags & SKBFL_PURE_ZEROCOPY ? count : m.process_pages;
	if (!w->id_known)
		id_note(w, BPF_CORE_READ(shinfo, destructor_arg));
}

/* In order of their sequence numbers. */
static long tree_hop(u32 hop, void *unused)
{
	struct walk *w = &walked;
	const struct rb_node *node = (void *)w->node, *next;

	if (w->move == MOVE_DOWN) {
		next = BPF_CORE_READ(node, rb_left);
		if (next)
			w->node = (u64)next;
		else
			w->move = MOVE_VISIT;
		return 0;
	}
	if (w->move == MOVE_VISIT) {
		walk_visit(w, (void *)node - bpf_core_field_offset(struct sk_buff, rbnode));
		next = BPF_CORE_READ(node, rb_right);
		w->move = next ? MOVE_DOWN : MOVE_UP;
		if (next)
			w->node = (u64)next;
		return 0;
	}
	next = (void *)(BPF_CORE_READ(node, __rb_parent_color) & ~3ul);
	if (!next) {
		w->done = 1;
		return 1;
	}
	if (BPF_CORE_READ(next, rb_left) == node)
		w->move = MOVE_VISIT;
	w->node = (u64)next;
	return 0;
}

static long list_hop(u32 hop, void *unused)
{
	struct walk *w = &walked;
	const struct sk_buff *skb = (void *)w->node;

	if (w->node == w->end || !w->node) {
		w->done = 1;
		return 1;
	}
	walk_visit(w, skb);
	w->node = (u64)BPF_CORE_READ(skb, next);
	return 0;
}

static __always_inline void queues_empty(struct watch_reading *r)
{
	r->referenced_pages = 0;
	r->referenced_bytes = 0;
	r->spliced_bytes = 0;
	r->unsent_referenced_bytes = 0;
	r->numbered = 0;
	r->first_id = r->zerocopy_sends;
}

VERIFIED_ONCE int queues_walk(struct watch_book *book, u64 socket)
{
	const struct sock *sk = (const void *)socket;
	const struct watch_slot *slot;
	struct watch_reading *r;
	struct walk *w = &walked;

	if (!book)
		return 0;
	r = &book->now;
	slot = slot_of(book);
	*w = (struct walk){ .sk = (u64)sk, .spliced_in_window = slot && has_spliced(slot) };
	w->node = (u64)BPF_CORE_READ(sk, tcp_rtx_queue.rb_node);
	if (w->node)
		bpf_loop(WALK_HOPS, tree_hop, NULL, 0);
	if (w->node && !w->done)
		book->flags |= WATCH_WALK_SHORT;
	w->done = 0;
	w->unsent = 1;
	w->end = (u64)sk + bpf_core_field_offset(struct sock, sk_write_queue);
	w->node = (u64)BPF_CORE_READ(sk, sk_write_queue.next);
	bpf_loop(WALK_HOPS, list_hop, NULL, 0);
	if (!w->done)
		book->flags |= WATCH_WALK_SHORT;
	if (w->mixed || (w->may_be_joined && watch_mode == WATCH_MODE_OPEN))
		book->flags |= WATCH_MIXED;
	r->referenced_pages = w->pages;
	r->referenced_bytes = w->referenced;
	r->spliced_bytes = w->spliced;
	r->unsent_referenced_bytes = w->unsent_referenced;
	r->numbered = w->id_known;
	r->first_id = w->id_known ? w->first_id : r->zerocopy_sends;
	return 0;
}

/* A notification in the error queue, which may stand for many. */
struct notified {
	u32 first, last;
	bool copied;
};

enum { OTHERS_BEHIND = 7 /* that newest notification, looked past */ };

/* The newest one; false if nobody left one there, or if the process has read it. Time stamps may lie behind it. The
 * verifier knows the types: plain loads. */
static __always_inline bool notified_last(const struct sock *sk, struct notified *n)
{
	u64 head = (u64)sk + bpf_core_field_offset(struct sock, sk_error_queue);
	const struct sk_buff *skb = POINTER_IN(sock, sk, sk_error_queue.prev);
	const struct sock_exterr_skb *error;

	for (int i = 0; i <= OTHERS_BEHIND; i++) {
		if (!skb || (u64)skb == head)
			return false;
		error = (void *)skb + bpf_core_field_offset(struct sk_buff, cb);
		if (error->ee.ee_origin == SO_EE_ORIGIN_ZEROCOPY_NUMBER) {
			n->first = error->ee.ee_info;
			n->last = error->ee.ee_data;
			n->copied = error->ee.ee_code & SO_EE_CODE_COPIED;
			return true;
		}
		skb = skb->prev;
	}
	return false;
}

/* A notification as slots note it: its first number, and the one after its last. 0 stands for none. */
static __always_inline u64 noted_as(const struct notified *n)
{
	return (u64)n->first << 32 | (u32)(n->last + 1);
}

/* No notification is due of what no queue holds, in whatever order those before came: tcp_disconnect() drops what is
 * unsent first. One that comes all the same shows that a packet held it, see late_notified(). */
static __always_inline void completions_begin(struct watch_slot *slot, const struct watch_reading *opened,
					      const struct sock *sk)
{
	struct notified n;

	slot->newest = notified_last(sk, &n) ? noted_as(&n) : 0;
	slot->next_id = opened->first_id;
	slot->opened_id = slot->next_id;
	slot->opened_sends = opened->zerocopy_sends - slot->next_id;
	slot->zerocopy_id = slot->next_id;
}

#endif
