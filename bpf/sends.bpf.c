// SPDX-License-Identifier: GPL-2.0
/*
 * How bytes enter a socket: copied, referenced or spliced; what each send asked for and returned.
 *
 * Functions that reference or splice run under the socket's lock, and so does a turn of the send loop. They
 * move the place from which bytes count as copied: what the sequence numbers say besides is copied. A plain
 * send passes none of them, or is told apart by two loads while nothing else was ever seen.
 *
 * tcp_sendmsg_locked rather than tcp_sendmsg: kernel senders and io_uring pass it, too. The copy itself,
 * _copy_from_iter, cannot be hooked (lib/ is built without ftrace).
 */
#include "bpf/include/datagram.bpf.h"
#include "bpf/include/sizes.bpf.h"
#include "bpf/include/send_flags.bpf.h"
#include "bpf/include/uncovered.bpf.h"
#include "bpf/include/user_stack.bpf.h"

#define MSG_SPLICE_PAGES_FLAG 0x8000000
#define MSG_FASTOPEN_FLAG 0x20000000

/* Since a send referenced or spliced pages, each send is looked at. */
volatile __u32 unusual_seen __weak = 0;

/* Of a send that asked for zero copy. */
#define SEND_COPIES 1 /* and copies: see must_copy() */
#define SEND_UNDER_WAY 2
#define SEND_BY_RING 4

/* pid_tgid -> that of the task's newest such send: sock_send_length is not told what was asked for */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} zerocopy_send SEC(".maps");

/* Something is in this table. */
volatile __u32 zerocopy_sends_noted __weak = 0;

/* pid_tgid -> notification of the task's newest send of io_uring's, from its first turn to its end: sock_send_length is
 * not told */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, u64);
} ring_turn SEC(".maps");

/* pid_tgid -> 1 if the send under way asked for zero copy and copies */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} copying_send SEC(".maps");

/* Something is in this table. */
volatile __u32 copying_sends_noted __weak = 0;

/* pid_tgid -> frags of the packet when the attaching call began */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} frags_before SEC(".maps");

/* Packets of others are not worth what watching them costs each packet. The process that sends may have joined the
 * subject since its socket was looked at. */
static __always_inline bool pages_matter(const struct watch_slot *slot)
{
	return watch_filter != WATCH_OF_TASKS || slot->ours || current_is_ours();
}

/* A send references or splices pages: its packets must be watched, before the first of them leaves. Those of kernel TLS
 * are the kernel's own, and nobody asks what becomes of them. True: its departures are to be noted. */
static __always_inline bool pages_unnoted(struct watch_slot *slot)
{
	if (slot->departures_noted)
		return false;
	if (!packets_watched && !(slot->tls & SLOT_TLS_SENDS)) {
		slot->pages_unwatched |= WATCH_PACKETS_UNSEEN;
		if (pages_matter(slot))
			hooks_want(&watch_gauges.zerocopy_seen);
	}
	return packets_watched;
}

static __always_inline void pages_note(struct watch_slot *slot, struct sock *sk)
{
	const struct tcp_sock *tp = pages_unnoted(slot) ? bpf_skc_to_tcp_sock(sk) : NULL;

	if (tp)
		departures_note(slot, tp->bytes_sent);
}

/* As tcp_sendmsg_locked() decides before its loop: MSG_ZEROCOPY needs SO_ZEROCOPY or a notification of
 * io_uring's, and a route that takes packets in pieces. A call that connects by MSG_FASTOPEN has no route then. */
static __always_inline u32 kind_of_send(const struct sock *sk, const struct msghdr *msg)
{
	u32 flags = msg->msg_flags;

	if (!(sk->sk_route_caps & NETIF_F_SG_FLAG) || flags & MSG_FASTOPEN_FLAG)
		return WATCH_KIND_COPY;
	if (flags & MSG_ZEROCOPY_FLAG) {
		return brings_notification(msg) || zerocopy_enabled(sk) ? WATCH_KIND_REFERENCE : WATCH_KIND_COPY;
	}
	return flags & MSG_SPLICE_PAGES_FLAG ? WATCH_KIND_SPLICE : WATCH_KIND_COPY;
}

/* By the first turn of the send. */
static __always_inline void turn_note(const struct sock *sk, const struct msghdr *msg)
{
	u32 flags = msg->msg_flags;
	u64 *noted;

	if (!(flags & MSG_ZEROCOPY_FLAG) || !window_open() || !book_number(cookie_of(sk)))
		return;
	noted = task_noted(&zerocopy_send);
	if (noted && *noted & SEND_UNDER_WAY)
		return;
	task_note(&zerocopy_send, SEND_UNDER_WAY | (must_copy(sk, flags) ? SEND_COPIES : 0) |
					  (brings_notification(msg) ? SEND_BY_RING : 0));
	zerocopy_sends_noted = 1;
}

static __always_inline enum site site_of_kind(u32 kind)
{
	return kind == WATCH_KIND_REFERENCE ? SITE_tx_reference : kind == WATCH_KIND_SPLICE ? SITE_tx_splice :
											SITE_tx_copy;
}

/* Whether the send moves bytes, its end will tell. */
static __always_inline void ring_turn_note(const struct sock *sk, const struct msghdr *msg, struct watch_slot *slot)
{
	if (!brings_notification(msg))
		return;
	note_ring_send(msg, cookie_of(sk), slot, false);
	/* Else no hook sees its end, and the task's next send would be taken for it. */
	if (packets_watched)
		task_note(&ring_turn, (u64)POINTER_IN(msghdr, msg, msg_ubuf));
}

static __always_inline void ring_turns_end(int ret)
{
	u64 *ubuf = task_noted(&ring_turn);
	struct ring_send *send = ubuf && *ubuf && ret > 0 ? bpf_map_lookup_elem(&ring_sends, ubuf) : NULL;

	if (send)
		send->moved_ns = bpf_ktime_get_ns();
	if (ubuf)
		*ubuf = 0;
}

/* Each turn of the send loop comes here before it adds bytes, and all turns of a call are of one kind:
 * what was added since the kind changed is of the kind that it had. */
SEC("?tp_btf/tcp_sendmsg_locked")
int BPF_PROG(send_turn, struct sock *sk, struct msghdr *msg)
{
	const struct tcp_sock *tp;
	struct watch_slot *slot;
	u32 kind;

	if (details_wanted)
		turn_note(sk, msg);
	if (!(msg->msg_flags & (MSG_ZEROCOPY_FLAG | MSG_SPLICE_PAGES_FLAG)) && !unusual_seen)
		return 0;
	slot = slot_of_sender(sk);
	if (!slot)
		return 0;
	if (is_in_sockmap(sk))
		sockmap_seen(sk);
	kind = kind_of_send(sk, msg);
	if (kind == WATCH_KIND_REFERENCE) {
		ring_turn_note(sk, msg, slot);
		if (sizes_wanted)
			hold_begins(sk, slot, msg);
	}
	if (kind != WATCH_KIND_COPY)
		pages_note(slot, sk);
	if (kind == slot->kind)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	unusual_seen = 1;
	slot_charge(slot, accepted_of(tp));
	slot->kind = kind;
	return 0;
}

/* The witness: what the call returned. */
static __always_inline void send_returned(struct watch_slot *slot, int ret)
{
	if (ret <= 0 || !window_is_open)
		return;
	if (details_wanted && !gauges.first_byte_ns)
		gauges.first_byte_ns = bpf_ktime_get_ns();
	__sync_fetch_and_add(&slot->send_calls, 1);
	__sync_fetch_and_add(&slot->sends_returned, ret);
}

static __always_inline void splice_returned(struct watch_slot *slot, int ret)
{
	if (ret > 0 && window_is_open)
		slot->splice_sends++;
}

/* A send that is refused before its first turn is none that is under way. TCP says ENOBUFS to zero-copy sends only
 * (net/ipv4/tcp.c; Fast Open as well, when the kernel is out of memory). */
static __always_inline void turns_end(const struct sock *sk, u32 place, int ret)
{
	struct books *b = window_open() ? bpf_map_lookup_elem(&details, &place) : NULL;
	u64 *noted = task_noted(&zerocopy_send), send = noted ? *noted : 0;

	if (!(send & SEND_UNDER_WAY) && ret != ENOBUFS_RET)
		return;
	if (noted)
		*noted = 0;
	if (b)
		count_zerocopy_send(b, sk, send & SEND_COPIES, send & SEND_BY_RING, ret);
}

/* Without trampolines nothing shows what a send of datagrams asked for but that it took a notification's number. */
static __always_inline bool datagram_asked_zerocopy(const struct books *b, const struct sock *sk, int ret)
{
	return ret == ENOBUFS_RET ? zerocopy_enabled(sk) :
				    (u32)sk->sk_zckey.counter != (u32)b->count[COUNT_zerocopy_sends];
}

#define EAGAIN_RET -11
#define EIO_RET -5

static __always_inline enum watch_failure failure_of(int ret)
{
	switch (-ret) {
#define FAILURE_CASE(symbol, name, number) case number: return WATCH_FAILURE_##symbol;
		WATCH_FAILURES(FAILURE_CASE)
#undef FAILURE_CASE
	}
	return WATCH_FAILURE_OTHER;
}

/* In a watch. Nothing is sent twice, so what calls return is what is accepted. A datagram whose send fails may have
 * left all the same. @size: of the send; 0: not known. */
static __always_inline void datagram_accepted(struct watch_slot *slot, const struct sock *sk, u64 size, int ret)
{
	if (ret > 0) {
		__sync_fetch_and_add(&slot->send_calls, 1);
		__sync_fetch_and_add(&slot->sends_returned, ret);
	} else if (ret < 0 && ret != EAGAIN_RET) {
		slot->send_failed = 1;
		__sync_fetch_and_add(&slot->failed_sends[failure_of(ret)], 1);
		if (ret == EIO_RET)
			__sync_fetch_and_add(&slot->failed_bytes, size);
		if (ret == ENOBUFS_RET && zerocopy_enabled(sk))
			__sync_fetch_and_add(&slot->refused_by_unknown, 1);
	}
}

/* A send by reference may come while its hooks are attached, behind this one. */
static __always_inline void datagram_pages_note(struct watch_slot *slot, const struct sock *sk, const struct msghdr *msg)
{
	if (brings_notification(msg))
		note_ring_send(msg, cookie_of(sk), slot, false);
	else if (!(msg->msg_flags & MSG_ZEROCOPY_FLAG) || !zerocopy_enabled(sk))
		return;
	if (!packets_watched)
		hooks_want(&watch_gauges.zerocopy_seen);
	if (!datagrams_shared)
		slot->pages_unwatched |= WATCH_REFERENCES_UNSEEN;
}

/* How a send of datagrams moved its bytes. */
static __always_inline u32 way_of_datagram(const struct sock *sk, const struct msghdr *msg)
{
	if (msg->msg_flags & MSG_ZEROCOPY_FLAG && (brings_notification(msg) || zerocopy_enabled(sk)))
		return CALL_SEND_ZEROCOPY;
	return msg->msg_flags & MSG_SPLICE_PAGES_FLAG ? CALL_SEND_SPLICE : CALL_SEND_PLAIN;
}

/* Where only the send's end is seen: it took a notification's number, or it did not. */
static __always_inline u32 way_by_notification(struct watch_slot *slot, const struct sock *sk)
{
	u32 id = sk->sk_zckey.counter, before = slot->zerocopy_id;

	slot->zerocopy_id = id;
	return id != before ? CALL_SEND_ZEROCOPY : CALL_SEND_PLAIN;
}

/* @msg: NULL if it is not known, and @size 0. */
static __always_inline int datagram_sent(struct sock *sk, int ret, const struct msghdr *msg, u64 size, u32 program)
{
	u32 msg_flags = msg ? msg->msg_flags : 0;
	struct watch_slot *slot;
	struct books *b;
	u32 place;

	slot = datagram_slot(sk, &place);
	if (!slot)
		return 0;
	if (msg && ret > 0)
		note_ring_send(msg, cookie_of(sk), slot, true);
	if (datagrams_watch)
		datagram_accepted(slot, sk, size, ret);
	else
		send_returned(slot, ret);
	if (ret > 0 && msg && way_of_datagram(sk, msg) == CALL_SEND_ZEROCOPY)
		__sync_fetch_and_add(&slot->asked_bytes, ret);
	if (sizes_wanted)
		call_sized(slot, msg ? way_of_datagram(sk, msg) : way_by_notification(slot, sk), ret);
	if (ret > 0)
		stack_count(place, sk, program, WATCH_ACCEPTED, ret);
	b = window_open() ? bpf_map_lookup_elem(&details, &place) : NULL;
	if (b && (counts_by_tracepoint ? datagram_asked_zerocopy(b, sk, ret) : msg_flags & MSG_ZEROCOPY_FLAG))
		count_zerocopy_send(b, sk, false, false, ret);
	return 0;
}

/* Fires when the call has given the lock back. A zero-copy send that the kernel refuses for want of option
 * memory or of pages to pin returns ENOBUFS. */
SEC("?tp_btf/sock_send_length")
int BPF_PROG(send_call, struct sock *sk, int ret, int flags)
{
	struct watch_slot *slot;
	u32 place;

	if (datagrams_wanted && is_udp(sk))
		return datagram_sent(sk, ret, NULL, 0, STACK_BY_SEND);
	if (calls_wanted && sk->sk_protocol == IPPROTO_MPTCP_NUMBER)
		mptcp_copies(sk, ret);
	if (ring_sends_noted)
		ring_turns_end(ret);
	if ((!calls_wanted && ret != ENOBUFS_RET) || !is_tcp(sk))
		return 0;
	slot = slot_at(cookie_of(sk), &place);
	if (!slot)
		return 0;
	if (ret == ENOBUFS_RET)
		__sync_fetch_and_add(&slot->refused_by_unknown, 1);
	if (calls_wanted) {
		send_returned(slot, ret);
		if (ret > 0)
			stack_count(place, sk, STACK_BY_SEND, site_of_kind(slot->kind), ret);
		if (slot->kind == WATCH_KIND_SPLICE)
			splice_returned(slot, ret);
	}
	/* The turns of this call have set the kind, unless it had none. */
	if (sizes_wanted)
		call_sized(slot, ret ? slot->kind : CALL_SEND_PLAIN, ret);
	if (sizes_wanted && ret < 0 && slot->kind == WATCH_KIND_REFERENCE)
		hold_fails(sk);
	if (details_wanted && (zerocopy_sends_noted || ret == ENOBUFS_RET))
		turns_end(sk, place, ret);
	return 0;
}

SEC("?fexit/mptcp_sendmsg")
int BPF_PROG(mptcp_sent, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	mptcp_copies(sk, ret);
	return 0;
}

/* One that connects by this call has no book yet. */
SEC("?fentry/tcp_sendmsg_locked")
int BPF_PROG(send_enter, struct sock *sk, struct msghdr *msg, size_t size)
{
	struct watch_slot *slot;

	if (!window_open() || !must_copy(sk, msg->msg_flags))
		return 0;
	/* No packet holds its notification, so no reference will tell whose it is. If it joins the one of sends before,
	 * that says COPIED from here on, even if this send moves nothing (tcp_sendmsg_locked). */
	slot = slot_of_sender(sk);
	if (slot) {
		note_ring_send(msg, cookie_of(sk), slot, false);
		slot->unscattered_sends++;
	}
	if (book_number(cookie_of(sk)) || task_is_ours()) {
		task_note(&copying_send, 1);
		copying_sends_noted = 1;
	}
	return 0;
}

SEC("?fexit/tcp_sendmsg_locked")
int BPF_PROG(send_exit, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	struct watch_slot *slot;
	u64 *copying = NULL;
	u32 place;

	slot = slot_at(cookie_of(sk), &place);
	if (!slot)
		return 0;
	send_returned(slot, ret);
	if (ret > 0) {
		note_ring_send(msg, cookie_of(sk), slot, true);
		stack_count(place, sk, STACK_BY_SEND, site_of_kind(kind_of_send(sk, msg)), ret);
	}
	if (msg->msg_flags & MSG_SPLICE_PAGES_FLAG)
		splice_returned(slot, ret);
	if (sizes_wanted && !(msg->msg_flags & (MSG_ZEROCOPY_FLAG | MSG_SPLICE_PAGES_FLAG)))
		call_sized(slot, CALL_SEND_PLAIN, ret);
	/* What kernel TLS hands to TCP are its records, spliced. */
	else if (sizes_wanted && !(slot->tls & SLOT_TLS_SENDS))
		call_sized(slot, kind_of_send(sk, msg), ret);
	if (!details_wanted || !(msg->msg_flags & MSG_ZEROCOPY_FLAG) || !window_open())
		return 0;
	if (copying_sends_noted)
		copying = task_noted(&copying_send);
	count_zerocopy_send(bpf_map_lookup_elem(&details, &place), sk, copying && *copying,
			    brings_notification(msg), ret);
	if (copying)
		*copying = 0;
	return 0;
}

/* The kernel copies the payload of a SYN even for a zero-copy send (tcp_send_syn_data). */
SEC("?fexit/tcp_sendmsg_fastopen")
int BPF_PROG(fastopen_exit, struct sock *sk, struct msghdr *msg, int *copied, size_t size,
	     struct ubuf_info *uarg, int ret)
{
	struct books *b;
	int bytes = 0;

	if (!window_open() || !(msg->msg_flags & MSG_ZEROCOPY_FLAG))
		return 0;
	b = books_find(cookie_of(sk));
	bpf_probe_read_kernel(&bytes, sizeof(bytes), copied);
	if (bytes <= 0)
		return 0;
	count(b, COUNT_fastopen_sends, 1);
	count(b, COUNT_fastopen_bytes, bytes);
	return 0;
}

static __always_inline void sent_not_copied(struct watch_slot *slot, enum watch_kind kind, u64 bytes)
{
	slot->sent_as[kind] += bytes;
	slot->since += bytes;
}

static __always_inline void note_outstanding(u64 pages)
{
	unsigned long long now = __sync_fetch_and_add(&gauges.outstanding_pages, pages) + pages;
	unsigned long long *peak = &this_cpu()->peak_pages;

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
static __always_inline void pages_pinned(const struct sock *sk, const struct sk_buff *skb, u64 uarg, int bytes)
{
	u64 cookie = cookie_of(sk), pages;
	struct frags_head frags;
	struct books *b = window_open() ? books_find(cookie) : NULL;

	if (!b)
		return;
	frags = frags_head_of(skb);
	pages = frags.registered ? 0 : frags.count;
	if (pages && skb->data_len != bytes) {
		u64 *before = task_noted(&frags_before);

		pages = before ? pages - *before : 0;
	}
	site_add(b, SITE_tx_reference, bytes);
	count(b, COUNT_pinned_pages, pages);
	note_outstanding(pages);
	pin_add(uarg, cookie, pages);
}

static __always_inline int reference_made(struct sock *sk, const struct sk_buff *skb, const struct msghdr *msg,
					  const struct ubuf_info *uarg, int ret)
{
	struct watch_slot *slot;

	if (ret <= 0)
		return 0;
	slot = slot_of_sender(sk);
	if (!slot)
		return 0;
	sent_not_copied(slot, WATCH_KIND_REFERENCE, ret);
	note_ring_send(msg, cookie_of(sk), slot, true);
	pages_note(slot, sk);
	if (sizes_wanted)
		hold_begins(sk, slot, msg);
	if (details_wanted)
		pages_pinned(sk, skb, (u64)uarg, ret);
	return 0;
}

SEC("?fexit/skb_zerocopy_iter_stream")
int BPF_PROG(reference_exit_5, struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int len,
	     struct ubuf_info *uarg, int ret)
{
	return reference_made(sk, skb, msg, uarg, ret);
}

/* 6.17 added the devmem binding (bd61848900bf, "net: devmem: Implement TX path"). */
SEC("?fexit/skb_zerocopy_iter_stream")
int BPF_PROG(reference_exit_6, struct sock *sk, struct sk_buff *skb, struct msghdr *msg, int len,
	     struct ubuf_info *uarg, void *binding, int ret)
{
	return reference_made(sk, skb, msg, uarg, ret);
}

/* Before the first packet leaves. */
static __always_inline int datagram_send_begins(struct sock *sk, const struct msghdr *msg)
{
	struct watch_slot *slot;
	u32 place;

	slot = datagram_slot(sk, &place);
	if (datagrams_watch && slot)
		datagram_pages_note(slot, sk, msg);
	return 0;
}

SEC("?fentry/udp_sendmsg")
int BPF_PROG(datagram_send_enter, struct sock *sk, struct msghdr *msg)
{
	return datagram_send_begins(sk, msg);
}

SEC("?fentry/udpv6_sendmsg")
int BPF_PROG(datagram_send_enter_v6, struct sock *sk, struct msghdr *msg)
{
	return datagram_send_begins(sk, msg);
}

/* A socket of IPv6 may send to IPv4 by this function: then the other one calls it. */
SEC("?fexit/udp_sendmsg")
int BPF_PROG(datagram_send_exit, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	return sk->__sk_common.skc_family == AF_INET6_FAMILY ? 0 : datagram_sent(sk, ret, msg, size, STACK_BY_DATAGRAM_SEND);
}

SEC("?fexit/udpv6_sendmsg")
int BPF_PROG(datagram_send_exit_v6, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	return datagram_sent(sk, ret, msg, size, STACK_BY_DATAGRAM_SEND_V6);
}

/* Up to 6.4 sendfile and splice have an entry of their own. Where the device cannot gather, it calls the other one. */
SEC("?fentry/udp_sendpage")
int BPF_PROG(datagram_page_enter, struct sock *sk)
{
	struct watch_slot *slot;
	u32 place;

	slot = datagram_slot(sk, &place);
	if (slot)
		task_note(&frags_before, slot->sends_returned);
	return 0;
}

SEC("?fexit/udp_sendpage")
int BPF_PROG(datagram_page_exit, struct sock *sk, struct page *page, int offset, size_t size, int flags, int ret)
{
	u64 *before = task_noted(&frags_before);
	struct watch_slot *slot;
	u32 place;

	slot = slot_at(cookie_of(sk), &place);
	if (!slot || !before || *before != slot->sends_returned)
		return 0;
	datagram_accepted(slot, sk, size, ret);
	if (sizes_wanted)
		call_sized(slot, CALL_SEND_SPLICE, ret);
	if (ret > 0)
		stack_count(place, sk, STACK_BY_DATAGRAM_PAGE, SITE_tx_splice, ret);
	if (ret > 0)
		__sync_fetch_and_add(&slot->sent_as[WATCH_KIND_SPLICE], ret);
	return 0;
}

/* TCP comes here, too, from skb_zerocopy_iter_stream(). A send that fails halfway is none. */
static __always_inline int datagram_referenced(const struct sk_buff *skb, u64 bytes, int ret)
{
	struct watch_slot *slot = !ret && skb->sk && is_udp(skb->sk) ? slot_find(cookie_of(skb->sk)) : NULL;

	if (!slot)
		return 0;
	__sync_fetch_and_add(&slot->sent_as[WATCH_KIND_REFERENCE], bytes);
	if (details_wanted)
		pages_pinned(skb->sk, skb, uarg_of(skb), bytes);
	return 0;
}

SEC("?fexit/__zerocopy_sg_from_iter")
int BPF_PROG(datagram_reference_5, struct msghdr *msg, struct sock *sk, struct sk_buff *skb, struct iov_iter *from,
	     size_t bytes, int ret)
{
	return datagram_referenced(skb, bytes, ret);
}

/* 6.17 added the devmem binding, as above. */
SEC("?fexit/__zerocopy_sg_from_iter")
int BPF_PROG(datagram_reference_6, struct msghdr *msg, struct sock *sk, struct sk_buff *skb, struct iov_iter *from,
	     size_t bytes, void *binding, int ret)
{
	return datagram_referenced(skb, bytes, ret);
}

/* It may wait for room in between, without the lock: what was added from its entry to its exit is
 * spliced, also for a reading in the middle of it. */
static __always_inline struct watch_slot *kind_set(struct watch_slot *slot, struct sock *sk, enum watch_kind kind)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	u32 state = sk->__sk_common.skc_state;

	if (!tp || !slot)
		return NULL;
	/* The move to CLOSE has charged all, and what the numbers are after it is no send's. */
	if (state != BPF_TCP_CLOSE)
		slot_charge(slot, accepted_of(tp) - fin_in_sequence(state));
	slot->kind = kind;
	if (kind != WATCH_KIND_COPY)
		pages_note(slot, sk);
	return slot;
}

static __always_inline struct watch_slot *kind_changes(struct sock *sk, enum watch_kind kind)
{
	return kind_set(slot_of_sender(sk), sk, kind);
}

/* Up to 6.4 sendfile and splice have an entry of their own. */
SEC("?fentry/do_tcp_sendpages")
int BPF_PROG(sendpages_enter, struct sock *sk)
{
	kind_changes(sk, WATCH_KIND_SPLICE);
	return 0;
}

SEC("?fexit/do_tcp_sendpages")
int BPF_PROG(sendpages_exit, struct sock *sk, struct page *page, int offset, size_t size, int flags,
	     long ret)
{
	struct watch_slot *slot = kind_changes(sk, WATCH_KIND_COPY);
	u32 place;

	if (!slot || ret <= 0)
		return 0;
	send_returned(slot, ret);
	splice_returned(slot, ret);
	if (sizes_wanted && !(slot->tls & SLOT_TLS_SENDS))
		call_sized(slot, CALL_SEND_SPLICE, ret);
	if (slot_at(cookie_of(sk), &place))
		stack_count(place, sk, STACK_BY_SENDPAGES, SITE_tx_splice, ret);
	return 0;
}

/*
 * The socket that pages are attached for. No argument names it, and callers in the kernel pass no function of splice(2).
 * A packet of datagrams does; TCP attaches to the last packet of its write queue, whose next is the queue's head, a
 * field of the socket (tcp_skb_entail). Other packets here are in no queue (KCM).
 */
static __always_inline const struct sock *spliced_into(const struct sk_buff *skb)
{
	u64 sk = (u64)POINTER_IN(sk_buff, skb, sk), next = (u64)POINTER_IN(sk_buff, skb, next);

	return (void *)(sk || !next ? sk : next - bpf_core_field_offset(struct sock, sk_write_queue));
}

/* Helpers take no socket that is found so. */
static __always_inline int pages_spliced(const struct sk_buff *skb, long ret)
{
	const struct sock *sk = ret > 0 ? spliced_into(skb) : NULL;
	struct watch_slot *slot = sk ? slot_find(cookie_at(sk)) : NULL;
	const struct tcp_sock *tp = (const void *)sk;

	if (!slot)
		return 0;
	sent_not_copied(slot, WATCH_KIND_SPLICE, ret);
	if (pages_unnoted(slot) && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP_NUMBER)
		departures_note(slot, BPF_CORE_READ(tp, bytes_sent));
	return 0;
}

/* One program per arity: a return slot chosen at run time makes clang form a variable context
 * offset, which the verifier refuses ("dereference of modified ctx ptr"). */
SEC("?fexit/skb_splice_from_iter")
int BPF_PROG(pages_spliced_4, struct sk_buff *skb, struct iov_iter *iter, long most, unsigned int gfp,
	     long ret)
{
	return pages_spliced(skb, ret);
}

SEC("?fexit/skb_splice_from_iter")
int BPF_PROG(pages_spliced_3, struct sk_buff *skb, struct iov_iter *iter, long most, long ret)
{
	return pages_spliced(skb, ret);
}

char LICENSE[] SEC("license") __weak = "GPL";
