// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of packets: payload that leaves for the first time or again; user pages and spliced ones handed
 * to a device, copied on arrival or on their way, moved between buffers, shown to a capture, dropped.
 *
 * User space attaches the tracepoints that each packet passes only when a socket of the subject asks for
 * zero copy, or for details. Each zero-copy message comes here several times, and a probe read is a call: so
 * these programs read by plain loads where the kernel lets a program say what type lies at an address. They are
 * in one file because libbpf 1.1 cannot link a kernel function that two files call.
 *
 * net_dev_queue is before a queue can drop the packet, and before it is cut or made linear for a device that
 * cannot gather, after which user pages look copied.
 */
#include "bpf/include/cause.bpf.h"
#include "bpf/include/casts.bpf.h"
#include "bpf/include/datagram.bpf.h"
#include "bpf/include/devices.bpf.h"
#include "bpf/include/owner.bpf.h"
#include "bpf/include/packet_taps.bpf.h"
#include "bpf/include/queues.bpf.h"
#include "bpf/include/retransmit.bpf.h"
#include "bpf/include/xmit_tracking.bpf.h"

#define NO_NOTIFICATION 1	/* skb_zcopy_is_nouarg() */

/* SKBFL_*. @skb: known to the verifier. */
static __always_inline u8 page_flags_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = shinfo_of(skb);

	return casts_known ? TYPED(skb_shared_info, shinfo)->flags : BPF_CORE_READ(shinfo, flags);
}

/* The notification of a packet that has or had SKBFL_ZEROCOPY_ENABLE, as uarg_of(). */
static __always_inline u64 notification_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = shinfo_of(skb);

	return casts_known ? (u64)TYPED(skb_shared_info, shinfo)->destructor_arg :
			     (u64)BPF_CORE_READ(shinfo, destructor_arg);
}

/* As cookie_of_holder(). */
static __always_inline u64 notifying_cookie(u64 uarg)
{
	u64 holder = (u64)holder_of(uarg);

	return casts_known ? cookie_of(TYPED(sk_buff, holder)->sk) : cookie_of_holder(uarg);
}

/* Whose user pages a packet with SKBFL_ZEROCOPY_ENABLE has, or had. */
static __always_inline u64 cookie_of_pages(const struct sk_buff *skb)
{
	u64 uarg = notification_of(skb);
	struct ring_send *send = NULL;

	if (!uarg || uarg & NO_NOTIFICATION)
		return 0;
	if (ring_sends_noted)
		send = bpf_map_lookup_elem(&ring_sends, &uarg);
	return send ? send->cookie : notifying_cookie(uarg);
}

static __always_inline struct watch_slot *slot_of_pages(const struct sk_buff *skb)
{
	return slot_find(cookie_of_pages(skb));
}

/* Whose user pages a packet has; 0 if it has none. */
static __always_inline u64 cookie_of_user(const struct sk_buff *skb)
{
	return page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE ? cookie_of_pages(skb) : 0;
}

/* The sender's book if the frags of this skb are user pages of this run, else NULL. */
static __always_inline struct books *books_of_pages(const struct sk_buff *skb)
{
	return books_find(cookie_of_user(skb));
}

/* As frags_head_of(). */
static __always_inline struct frags_head frags_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = shinfo_of(skb);
	struct frags_head head = {};
	u8 flags;

	if (!casts_known)
		return frags_head_of(skb);
	flags = page_flags_of(skb);
	head.users = flags & SKBFL_ZEROCOPY_ENABLE;
	head.registered = flags & SKBFL_MANAGED_FRAG_REFS;
	head.count = TYPED(skb_shared_info, shinfo)->nr_frags;
	return head;
}

/* Bytes of user pages in a packet with SKBFL_ZEROCOPY_ENABLE. Pages of files beside them may be either. */
static __always_inline u32 user_bytes(struct watch_slot *slot, const struct sk_buff *skb, u8 flags)
{
	struct mapped m;

	if (flags & SKBFL_PURE_ZEROCOPY)
		return skb->data_len;
	m = mapped_bytes(shinfo_of(skb), frags_of(skb).count);
	if (m.file || (m.process && has_spliced(slot)))
		slot->mixed = 1;
	return m.process;
}

static __always_inline struct leaving leaving_of(const struct sk_buff *skb)
{
	const unsigned char *header = skb->head + skb->transport_header;
	u64 before = header - skb->data;
	struct leaving leaving = {};
	u32 seq, words;

	if (skb->transport_header == NO_SUCH_HEADER)
		return leaving;
	if (casts_known) {
		const struct tcphdr *tcp = TYPED(tcphdr, header);

		seq = tcp->seq;
		words = BPF_CORE_READ_BITFIELD(tcp, doff);
		leaving.syn = BPF_CORE_READ_BITFIELD(tcp, syn);
	} else {
		const struct tcphdr *tcp = (const void *)header;

		seq = BPF_CORE_READ(tcp, seq);
		words = BPF_CORE_READ_BITFIELD_PROBED(tcp, doff);
		leaving.syn = BPF_CORE_READ_BITFIELD_PROBED(tcp, syn);
	}
	before += words * 4;
	leaving.bytes = skb->len > before ? skb->len - before : 0;
	leaving.seq = bpf_ntohl(seq) + leaving.syn;
	return leaving;
}

static __always_inline void count_copied(struct books *b, u32 bytes, u32 first)
{
	if (!bytes)
		return;
	count(b, COUNT_wire_copied_bytes, bytes);
	if (bytes != first)
		count(b, COUNT_retrans_copied_bytes, bytes - first);
}

/* A packet's pages count as sent again if all of its bytes were. */
static __always_inline void count_referenced(struct books *b, u32 pages, u32 bytes, u32 first)
{
	count(b, COUNT_wire_referenced_bytes, bytes);
	count(b, COUNT_wire_referenced_pages, pages);
	if (bytes == first)
		return;
	count(b, COUNT_retrans_referenced_bytes, bytes - first);
	if (!first)
		count(b, COUNT_retrans_referenced_pages, pages);
}

/* Each datagram leaves once. Where its device cannot gather, or IP would cut it, the send has copied the pages and
 * marked the notification as copied (__ip_append_data), which stands for this one send. */
static __always_inline void datagram_departed(struct books *b, const struct sk_buff *skb)
{
	u32 headers = datagram_header_bytes(skb), referenced = 0, bytes;
	struct frags_head frags = {};

	if (skb->transport_header == NO_SUCH_HEADER || skb->len <= headers)
		return;
	bytes = skb->len - headers;
	if (skb->data_len)
		frags = frags_of(skb);
	if (frags.users)
		referenced = skb->data_len < bytes ? skb->data_len : bytes;
	count_copied(b, bytes - referenced, bytes - referenced);
	if (!referenced)
		return;
	count_referenced(b, frags.count, referenced, referenced);
	if (!notification_clean((void *)notification_of(skb))) {
		count(b, COUNT_nosg_sends, 1);
		count(b, COUNT_nosg_bytes, referenced);
	}
}

/* Payload in kernel memory or in referenced user pages, and how much of it not for the first time. All frags of
 * a packet whose pages are the user's count as that. What is linear comes first. */
static __always_inline void departure_counted(const struct sk_buff *skb, u32 place)
{
	struct books *b = window_open() ? bpf_map_lookup_elem(&details, &place) : NULL;
	const struct sock *sk = POINTER_IN(sk_buff, skb, sk);
	struct frags_head frags = {};
	u32 referenced = 0, middle;
	struct leaving leaving;
	struct departed *d;

	if (!b || !sk)
		return;
	if (datagrams_wanted && is_udp(sk)) {
		datagram_departed(b, skb);
		return;
	}
	leaving = leaving_of(skb);
	if (!leaving.bytes)
		return;
	d = departed_of(sk, place, &leaving);
	if (!d)
		return;
	if (skb->data_len)
		frags = frags_of(skb);
	if (frags.users)
		referenced = skb->data_len < leaving.bytes ? skb->data_len : leaving.bytes;
	middle = leaving.seq + leaving.bytes - referenced;
	count_copied(b, leaving.bytes - referenced, first_departure(d, leaving.seq, middle));
	if (referenced)
		count_referenced(b, frags.registered ? 0 : frags.count, referenced,
				 first_departure(d, middle, middle + referenced));
}

/* skb -> the device that it was handed to: some drivers free it as if they had dropped it (vmxnet3, with
 * dev_kfree_skb_any), so a free after the hand-over is no drop. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, u64);
} handed SEC(".maps");

/* Something is in this table. */
volatile __u32 handed_noted = 0;

/* The kernel reuses the memory of an skb. */
static __always_inline void handed_forget(const struct sk_buff *skb)
{
	u64 key = (u64)skb;

	if (handed_noted && window_open() && skb->data_len && page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE)
		bpf_map_delete_elem(&handed, &key);
}

/* It left before: another device of this machine handed it on. */
static __always_inline bool left_before(const struct sk_buff *skb)
{
	struct xmit *h = xmit_here();

	return skb->skb_iif || (h && h->stacked == (u64)skb);
}

/* Before a queue can drop the packet, under the lock of its socket. Payload is never in a packet's linear
 * part here, but for what Fast Open sent with its SYN. */
SEC("?tp_btf/net_dev_queue")
int BPF_PROG(departure, const struct sk_buff *skb)
{
	struct watch_slot *slot;
	bool again;
	u32 place;
	u8 flags;

	if (details_wanted) {
		note_seen(SEEN_WIRE);
		handed_forget(skb);
	}
	if (!details_wanted && !skb->data_len && (late_copies_hooked || !skb->skb_iif))
		return 0;
	slot = slot_at(cookie_of(POINTER_IN(sk_buff, skb, sk)), &place);
	/* Without trampolines no program sees a datagram before. */
	if (!slot && datagrams_wanted && !datagrams_watch && counts_by_tracepoint)
		slot = datagram_of_run(skb->sk, &place);
	if (!slot)
		return skb->skb_iif ? onward_queued(skb, skb->data_len ? page_flags_of(skb) : 0) : 0;
	if (details_wanted)
		departure_counted(skb, place);
	if (!skb->data_len || fault_inject == FAULT_SKIP_DEPARTURES)
		return 0;
	again = left_before(skb);
	flags = page_flags_of(skb);
	if (!again)
		__sync_fetch_and_add(&slot->departed, skb->data_len);
	if (flags & SKBFL_ZEROCOPY_ENABLE && !again)
		__sync_fetch_and_add(&slot->sent_referenced, user_bytes(slot, skb, flags));
	/* Of each device: the next one may be handed it without its pages. */
	if ((flags & (SKBFL_ZEROCOPY_ENABLE | SKBFL_SHARED_FRAG)) == SKBFL_SHARED_FRAG)
		__sync_fetch_and_add(&slot->spliced_queued, skb->data_len);
	return 0;
}

static __always_inline void path_note(struct watch_slot *slot, u8 paths)
{
	if ((slot->paths & paths) != paths)
		slot->paths |= paths;
}

/* The socket's, its queue's, and this packet's own: others have gone to more devices. */
#define HOLDERS_OF_ONE 2
#define HOLDERS_MASK 0xffff	/* SKB_DATAREF_MASK */

/* A packet that arrived here with user pages and goes on with them was not copied there, which its arrival counted. */
static __always_inline void onward_noted(struct watch_slot *slot, struct xmit *h, const struct sk_buff *skb)
{
	if ((BPF_CORE_READ(shinfo_of(skb), dataref.counter) & HOLDERS_MASK) > HOLDERS_OF_ONE)
		path_note(slot, WATCH_PATH_ONWARD);
	h->onward = skb->data_len;
	__sync_fetch_and_add(&slot->late_copied, -h->onward);
}

/* A device on a bus reads the user's pages itself, unless its driver copies some, which takes them back. */
static __always_inline void pages_handed(const struct sk_buff *skb, const struct net_device *dev, u8 flags)
{
	struct watch_slot *slot;
	struct xmit *h;
	bool again;
	u64 cookie;

	/* Where late copies are hooked, nothing else is to be known of other devices. */
	if (late_copies_hooked && !dev->dev.parent)
		return;
	cookie = cookie_of_pages(skb);
	slot = slot_find(cookie);
	h = slot ? xmit_begin() : NULL;
	if (!h)
		return;
	again = h->stacked == (u64)skb;
	h->skb = (u64)skb;
	h->cookie = cookie;
	h->bytes = h->onward = 0;
	if (!dev->dev.parent)
		h->detail_bytes = 0;
	if (!late_copies_hooked) {
		path_note(slot, paths_of(dev));
		/* What the device above has taken off counts as this one's. */
		if (skb->skb_iif && !again)
			onward_noted(slot, h, skb);
	}
	if (!dev->dev.parent || !is_plain(slot, skb))
		return;
	h->bytes = user_bytes(slot, skb, flags);
	__sync_fetch_and_add(&slot->clean, h->bytes);
}

/* Pages that were spliced have no notification: who sent them is known until the socket is taken off. Nobody
 * copies them on arrival. */
static __always_inline void splices_handed(const struct sk_buff *skb, const struct net_device *dev)
{
	struct watch_slot *slot = slot_find(cookie_of(POINTER_IN(sk_buff, skb, sk)));
	u8 paths = paths_of(dev);

	if (!slot) {
		if (skb->skb_iif)
			onward_handed(skb, paths);
		return;
	}
	path_note(slot, paths | (left_before(skb) ? WATCH_PATH_STACKED : 0));
	if (!(paths & WATCH_PATH_OTHER) && is_plain(slot, skb))
		__sync_fetch_and_add(&slot->spliced_handed, skb->data_len);
}

struct passed {
	u64 cookie;
	u64 bytes;
};

/* skb with user pages that arrived and was passed on to a device: without trampolines. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct passed);
} passed_on SEC(".maps");

/* Handed to a device in user pages: no copy was made on the way there. The kernel sets skb_iif right after
 * it tells of the arrival. No later hook will do: most drivers free what they sent as consumed, and
 * vmxnet3 moves short payloads out of their pages first. */
static __always_inline void arrival_passed(const struct sk_buff *skb, u64 cookie)
{
	struct passed passed = { .cookie = cookie, .bytes = skb->data_len };
	struct books *b = skb->skb_iif ? books_find(cookie) : NULL;
	u64 key = (u64)skb;

	if (!b)
		return;
	add(&b->site[SITE_late_copy].bytes, -passed.bytes);
	if (bpf_map_update_elem(&passed_on, &key, &passed, BPF_ANY))
		note_lost_update();
}

static __always_inline void handed_note(u64 skb, const struct net_device *dev)
{
	u64 to = (u64)dev;

	if (bpf_map_update_elem(&handed, &skb, &to, BPF_ANY))
		note_lost_update();
	if (!handed_noted)
		handed_noted = 1;
}

/* Charged by the notification, because a router in between removes skb->sk. */
static __always_inline void device_counted(const struct sk_buff *skb, const struct net_device *dev)
{
	u64 cookie, key = (u64)skb;
	struct xmit *h;

	note_seen(SEEN_XMIT);
	if (!window_open() || !dev->dev.parent)
		return;
	cookie = cookie_of_user(skb);
	if (!cookie && datagrams_wanted && protocol_of(skb) == IPPROTO_UDP_NUMBER)
		handed_note(key, dev);
	h = cookie ? xmit_begin() : NULL;
	if (!h)
		return;
	h->skb = key;
	h->cookie = cookie;
	h->bytes = 0;
	h->detail_bytes = skb->data_len;
	if (counts_by_tracepoint)
		arrival_passed(skb, h->cookie);
	count(books_find(h->cookie), COUNT_clean_bytes, h->detail_bytes);
	handed_note(key, dev);
}

/* What the device cannot gather was made linear, and has no such pages here. */
SEC("?tp_btf/net_dev_start_xmit")
int BPF_PROG(device, const struct sk_buff *skb, const struct net_device *dev)
{
	u8 flags;

	if (casts_known)
		dev = TYPED(net_device, dev);
	if (details_wanted)
		device_counted(skb, dev);
	if (!skb->data_len)
		return 0;
	flags = page_flags_of(skb);
	if (flags & SKBFL_ZEROCOPY_ENABLE)
		pages_handed(skb, dev, flags);
	else if (flags & SKBFL_SHARED_FRAG)
		splices_handed(skb, dev);
	else
		return 0;
	if (!dev->dev.parent && !(dev->flags & IFF_LOOPBACK_FLAG))
		stack_note(skb);
	return 0;
}

/* A busy device gets it again later. Only the address of the skb is used: it may be freed by now. */
static __always_inline void arrival_held(struct sk_buff *skb)
{
	u64 key = (u64)skb;
	struct passed *passed = bpf_map_lookup_elem(&passed_on, &key);
	struct books *b = passed ? books_find(passed->cookie) : NULL;

	if (!b)
		return;
	add(&b->site[SITE_late_copy].bytes, passed->bytes);
	bpf_map_delete_elem(&passed_on, &key);
}

/* The skb may be freed by now: only its address is used. A busy device gets it again later. */
SEC("?tp_btf/net_dev_xmit")
int BPF_PROG(device_done, struct sk_buff *skb, int rc)
{
	struct xmit *h = xmit_here();
	u64 key = (u64)skb;

	if (details_wanted && counts_by_tracepoint && rc == NETDEV_TX_BUSY)
		arrival_held(skb);
	if (h && h->stacked == key)
		h->stacked = 0;
	if (!h || h->skb != key)
		return 0;
	if (rc == NETDEV_TX_BUSY) {
		onward_held(h);
		clean_take_back(skb, ~0ull);
		if (details_wanted)
			bpf_map_delete_elem(&handed, &key);
	}
	h->skb = 0;
	return 0;
}

/* Payload that the kernel moves out of user pages or spliced ones, behind the socket. */
static __always_inline int moved_behind(const struct sk_buff *skb, int offset, int len)
{
	struct watch_slot *slot;
	u64 bytes;
	u8 flags;

	if (len <= 0 || !skb->data_len)
		return 0;
	flags = page_flags_of(skb);
	bytes = flags & (SKBFL_ZEROCOPY_ENABLE | SKBFL_SHARED_FRAG) ?
			bytes_in_frags(skb, offset, (long)offset + len) : 0;
	if (!bytes || (!has_left(skb) && !is_being_encrypted(skb)))
		return 0;
	slot = flags & SKBFL_ZEROCOPY_ENABLE ? slot_of_pages(skb) : slot_find(cookie_of(POINTER_IN(sk_buff, skb, sk)));
	if (slot)
		__sync_fetch_and_add(&slot->reshaped, bytes);
	else if (!(flags & SKBFL_ZEROCOPY_ENABLE))
		gauge_add(&watch_gauges.reshaped_orphans, bytes);
	if (details_wanted && window_open())
		count(books_of_pages(skb), COUNT_reshaped_referenced_bytes, bytes);
	clean_take_back(skb, bytes);
	return 0;
}

/* include/linux/netdev_features.h */
#define FEATURES_SG 1ull
#define FEATURES_SUMS (1ull << 1 | 1ull << 3 | 1ull << 4)
#define FEATURES_TSO (1ull << 16 | 1ull << 20)

static __always_inline u32 is_off(u64 on, u64 offered, u64 features)
{
	return !(on & features) && offered & features;
}

/* Bits of what the packet's device was told not to do. In a queue of a socket there is none, and what is read there is
 * no device's: no cause asks for it. */
static __always_inline u32 switches_off(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	u64 on = BPF_CORE_READ(dev, features), offered = BPF_CORE_READ(dev, hw_features);

	return is_off(on, offered, FEATURES_SG) * COPIED_SG_OFF | is_off(on, offered, FEATURES_SUMS) * COPIED_TX_OFF |
	       is_off(on, offered, FEATURES_TSO) * COPIED_TSO_OFF;
}

/* Payload that is pulled into the linear part, collapsed, coalesced. */
static __always_inline void reshaped(void *ctx, u32 arguments, const struct sk_buff *skb, int offset, int len)
{
	u32 number = window_open() && len > 0 ? number_of_skb(skb) : 0;
	struct books *b = book_numbered(number);
	long start, end = (long)offset + len;
	u32 place = number - 1;
	struct watch_slot *slot;

	if (!b)
		return;
	start = header_bytes(skb);
	if (offset > start)
		start = offset;
	if (end <= start)
		return;
	site_add(b, SITE_reshape, end - start);
	slot = bpf_map_lookup_elem(&slots, &place);
	if (!slot)
		return;
	__sync_fetch_and_add(&slot->moved_between, end - start);
	if (slot->ours)
		charge_cause(ctx, arguments, SITE_reshape, switches_off(skb), end - start, 1);
}

/* Every such move goes through skb_copy_bits (__pskb_pull_tail, skb_try_coalesce, tcp_collapse, skb_segment,
 * skb_copy), or through skb_copy_and_csum_bits where the device cannot checksum either (skb_segment), so two
 * hooks count each byte once. */
SEC("?fexit/skb_copy_bits")
int BPF_PROG(moved, struct sk_buff *skb, int offset, void *to, int len, int ret)
{
	if (ret)
		return 0;
	if (details_wanted)
		reshaped(ctx, 4, skb, offset, len);
	return moved_behind(skb, offset, len);
}

/* Cannot fail, and its arguments have changed: on entry only the first four are read. */
SEC("?fentry/skb_copy_and_csum_bits")
int BPF_PROG(moved_csum, struct sk_buff *skb, int offset, void *to, int len)
{
	if (details_wanted)
		reshaped(ctx, 0, skb, offset, len);
	return quoted(skb, offset) ? 0 : moved_behind(skb, offset, len);
}

/* A capture's copy, or that of tun, of a time stamp, of something that rewrites packets. */
static __always_inline void late_on_way_out(struct watch_slot *slot, const struct sk_buff *skb)
{
	__sync_fetch_and_add(&slot->late_on_way_out, skb->data_len);
	if (is_tun(POINTER_IN(sk_buff, skb, dev)))
		path_note(slot, WATCH_PATH_TUN);
}

/* @on_way_out: no device of this machine has received the packet. */
static __always_inline int copied_late(const struct sk_buff *skb, bool on_way_out)
{
	struct watch_slot *slot = slot_of_pages(skb);

	if (slot) {
		__sync_fetch_and_add(&slot->late_copied, skb->data_len);
		if (on_way_out)
			late_on_way_out(slot, skb);
	}
	return 0;
}

/* An skb that arrives with user pages. If the reader finds none of them (rx_copy would count them), the kernel
 * copied them on its way to the socket. */
static __always_inline void arrival_counted(const struct sk_buff *skb)
{
	u64 key = (u64)skb;
	struct books *b;

	b = window_open() ? books_of_pages(skb) : NULL;
	if (!b)
		return;
	/* The kernel reuses the memory of an skb. */
	bpf_map_delete_elem(&passed_on, &key);
	site_add(b, SITE_late_copy, skb->data_len);
}

/* One of what is watched, whoever else sends by reference on this machine. */
static __always_inline bool arrival_is_skipped(const struct sk_buff *skb)
{
	const struct watch_slot *slot;

	if (fault_inject != FAULT_SKIP_ARRIVAL || !window_is_open || !skb->data_len ||
	    !(page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE))
		return false;
	slot = slot_of_pages(skb);
	return slot && slot->ours && is_lost(FAULT_SKIP_ARRIVAL);
}

/* The kernel copies all pages of such a packet on its way to a socket of this machine. A bridge tells of it again as
 * its own arrival (br_pass_frame_up); what crosses to another namespace or comes from a device has no skb_iif yet. */
SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(arrival, struct sk_buff *skb)
{
	if (arrival_is_skipped(skb))
		return 0;
	note_seen(SEEN_ARRIVAL);
	if (details_wanted && !skb->skb_iif)
		arrival_counted(skb);
	if (!skb->data_len || !(page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE))
		return 0;
	if (captures_of(POINTER_IN(sk_buff, skb, dev))) {
		struct watch_slot *slot = slot_of_pages(skb);

		if (slot)
			path_note(slot, WATCH_PATH_TAPPED);
	}
	return skb->skb_iif ? 0 : copied_late(skb, false);
}

#define TBF_ENQUEUE_BYTES 4096 /* more than the code of tbf_enqueue, less than that of the module */

/* A tbf that refuses every piece of a packet also frees the packet (tbf_segment since 1596a135e318,
 * "net/sched: tbf: correct backlog statistic for GSO packets", 6.13 and stable trees): the pieces
 * are its drop. Nothing else in sch_tbf frees a packet; its caller frees refused ones. */
static __always_inline bool refused_in_pieces(const struct sk_buff *skb, u64 location)
{
	const struct Qdisc *queue = BPF_CORE_READ(skb, dev, qdisc);
	u64 enqueue = (u64)BPF_CORE_READ(queue, enqueue);
	char id[4] = {};

	if (location - enqueue >= TBF_ENQUEUE_BYTES)
		return false;
	bpf_probe_read_kernel(id, sizeof(id), BPF_CORE_READ(queue, ops, id));
	return id[0] == 't' && id[1] == 'b' && id[2] == 'f' && !id[3];
}

/* Dropped before a device got it, or by the driver that has it. Delivered packets are consumed, not
 * dropped, and have lost their user pages. */
static __always_inline void drop_counted(const struct sk_buff *skb, u64 location)
{
	struct books *b = books_of_pages(skb);
	struct xmit *h = xmit_here();
	u64 key = (u64)skb;

	if (!b)
		return;
	/* Without trampolines: one that arrived and was not passed on was not copied. */
	if (counts_by_tracepoint && skb->skb_iif && bpf_map_delete_elem(&passed_on, &key))
		add(&b->site[SITE_late_copy].bytes, -(u64)skb->data_len);
	if (!has_left(skb) || refused_in_pieces(skb, location) ||
	    (!bpf_map_delete_elem(&handed, &key) && !(h && h->skb == key)))
		return;
	count(b, COUNT_dropped_referenced_bytes, skb->data_len);
	clean_take_back(skb, skb->data_len);
}

/* Of the socket that it was for. Whoever reads a datagram consumes it: what else frees it drops it. */
static __always_inline void datagram_dropped(const struct sk_buff *skb)
{
	u32 headers = datagram_header_bytes(skb);
	u64 key = (u64)skb, *to = handed_noted ? bpf_map_lookup_elem(&handed, &key) : NULL;
	struct books *b;

	/* By the driver that has sent it. One that arrived in the same memory has another device, or none. */
	if (to && *to == (u64)POINTER_IN(sk_buff, skb, dev))
		return;
	if (skb->transport_header == NO_SUCH_HEADER || skb->len <= headers ||
	    protocol_of(skb) != IPPROTO_UDP_NUMBER)
		return;
	b = books_find(cookie_of_flow(skb));
	count(b, COUNT_dropped_bytes, skb->len - headers);
}

/* A packet that a queue of this machine refuses is sent again as if it were new. One that arrived
 * (skb_iif) and is dropped in user pages was not copied. One without even a header is a notification:
 * the kernel may not pin the pages that it is for, or nobody read it. */
SEC("?tp_btf/kfree_skb")
int BPF_PROG(drop, const struct sk_buff *skb, const void *location)
{
	struct watch_slot *slot;
	struct xmit *h;

	/* Before the next one forgets that a device had it. */
	if (datagrams_wanted && window_open())
		datagram_dropped(skb);
	if (details_wanted && window_open())
		drop_counted(skb, (u64)location);
	if (!skb->skb_iif) {
		slot = slot_find(cookie_of(POINTER_IN(sk_buff, skb, sk)));
		if (slot && skb->len)
			__sync_fetch_and_add(&slot->dropped_packets, 1);
		else if (slot)
			slot->unpinned = 1;
		return 0;
	}
	if (late_copies_hooked || !packets_watched || !skb->data_len ||
	    !(page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE))
		return 0;
	/* The device that drops it has taken it on. */
	h = xmit_here();
	slot = h && h->skb == (u64)skb ? NULL : slot_of_pages(skb);
	if (slot)
		__sync_fetch_and_add(&slot->late_copied, -(u64)skb->data_len);
	return 0;
}

/* Valid while skb->dev is a device: in a driver, in the receive path, not in a socket's queue. */
static __always_inline u32 circumstances_of(const struct sk_buff *skb)
{
	const struct net_device *dev = POINTER_IN(sk_buff, skb, dev);

	if (!subject_home_count)
		return captures_of(dev) | COPIED_ANYWHERE;
	return captures_of(dev) | (netns_is_ours(dev->nd_net.net->ns.inum) ? 0 : COPIED_ELSEWHERE);
}

/* Adds @times the payload in the frags of @skb to what was copied late. */
static __always_inline void late_copy_counted(void *ctx, const struct sk_buff *skb, int times)
{
	u32 number = window_open() ? book_number(cookie_of_user(skb)) : 0;
	struct books *b = book_numbered(number);

	if (!b)
		return;
	site_change(b, SITE_late_copy, (u64)times * skb->data_len, times);
	if (number_is_ours(number))
		charge_cause(ctx, 2, SITE_late_copy, circumstances_of(skb) | switches_off(skb), (u64)times * skb->data_len,
			     times);
}

/* On exit, when it is known that there was memory for the copy; data_len is as before. The packet has let go of
 * its notification by then, but still tells which one that was (skb_zcopy_clear() clears flags alone), and TCP's
 * own packet holds that until the data are acknowledged. Not if this is a copy that was sent in vain: then it
 * waits in the error queue, or its memory was freed a moment ago. A second hook, on entry, would cost
 * more than this program. */
SEC("?fexit/skb_copy_ubufs")
int BPF_PROG(late_copy, struct sk_buff *skb, unsigned int gfp, int ret)
{
	if (!ret)
		return copied_late(skb, !skb->skb_iif);
	/* Without memory nothing was copied, and the packet still has its notification. */
	if (details_wanted)
		late_copy_counted(ctx, skb, -1);
	return 0;
}

/* For details, on entry: an end that the kernel counts anew may have no notification on exit. data_len is copied:
 * the call does not change it, and TCP has no frag_list. */
SEC("?fentry/skb_copy_ubufs")
int BPF_PROG(late_copy_enter, struct sk_buff *skb)
{
	late_copy_counted(ctx, skb, 1);
	return 0;
}

/* Called where captures run alone: they get a clone, whose user pages are copied; the packet itself goes on as it
 * was. On the way in the same packet is shown, so that the copy for a capture is the one that delivery would
 * make. */
SEC("?fentry/dev_queue_xmit_nit")
int BPF_PROG(tap, struct sk_buff *skb)
{
	struct watch_slot *slot = NULL;

	if (page_flags_of(skb) & SKBFL_ZEROCOPY_ENABLE)
		slot = slot_of_pages(skb);
	if (slot)
		__sync_fetch_and_add(&slot->tapped, skb->data_len);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
