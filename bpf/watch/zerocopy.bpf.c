// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of zero-copy sends: completed, or refused and by which limit.
 *
 * User space attaches the hook on calls only when a socket of the subject asks for zero copy, so that nobody
 * else pays for it.
 */
#include "bpf/watch/queues.bpf.h"

#define NOTIFIED_SENDS_MOST (0xffff - 1)	/* msg_zerocopy_realloc() */
#define NOTIFIED_BYTES_MOST (1 << 19)
#define ENOBUFS_RET -105

/* One notification of the subject's is to be lost, and it is this one. */
static __always_inline bool is_lost_on_purpose(struct sock *sk)
{
	const struct watch_book *book;

	if (watch_fault != WATCH_FAULT_DROP_COMPLETION || watch_gauges.injected_faults)
		return false;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	if (!book || !(book->flags & WATCH_OURS))
		return false;
	watch_gauges.injected_faults = 1;
	return true;
}

/* A notification was put at the end of the error queue or added to the one there. The process may have
 * read it already: then the next one tells of it, too. */
SEC("?tp_btf/inet_sk_error_report")
int BPF_PROG(watch_completion, struct sock *sk)
{
	struct watch_slot *slot;
	struct notified n = {};
	u32 sends;

	gauge_add(&watch_gauges.reports, 1);
	slot = slot_find(cookie_of(sk));
	if (!slot || is_lost_on_purpose(sk))
		return 0;
	if (!notified_last(sk, &n)) {
		slot->unseen_reports++;
		return 0;
	}
	sends = n.last - n.first + 1;
	if ((int)(n.last - slot->next_id) < 0) {
		/* Out of order: it was skipped before, or its pages were still held by a packet
		 * that no queue of the socket had any more when the window opened. */
		if (sends > slot->skipped_ids) {
			slot->opened_sends += sends - slot->skipped_ids;
			slot->skipped_ids = 0;
		} else {
			slot->skipped_ids -= sends;
		}
	} else {
		if ((int)(n.first - slot->next_id) > 0)
			slot->skipped_ids += n.first - slot->next_id;
		else
			sends = n.last + 1 - slot->next_id;
		slot->next_id = n.last + 1;
	}
	slot->completed_sends += sends;
	if (n.copied)
		slot->copied_sends += sends;
	return 0;
}

/* A zero-copy send that the kernel refuses for want of option memory or of pages to pin. */
SEC("?tp_btf/sock_send_length")
int BPF_PROG(watch_refusal, struct sock *sk, int ret)
{
	struct watch_slot *slot;

	if (ret != ENOBUFS_RET || !is_tcp(sk))
		return 0;
	slot = slot_find(cookie_of(sk));
	if (slot)
		__sync_fetch_and_add(&slot->refused_by_unknown, 1);
	return 0;
}

struct netns_core___optmem {
	int sysctl_optmem_max;
} OF_KERNEL;

/* The limit in force, and what sock_omalloc() asks for an empty packet. Up to 6.7 one number for all
 * namespaces (f5769faeec36, "net: Namespace-ify sysctl_optmem_max"), which user space reads before load. */
const volatile int optmem_max __weak = 0;

#define CACHE_LINES(bytes) (((bytes) + 63) & ~63)

static __always_inline bool optmem_is_used_up(const struct sock *sk)
{
	const struct netns_core___optmem *core = (void *)sk->__sk_common.skc_net.net +
						 bpf_core_field_offset(struct net, core);
	int most = bpf_core_field_exists(core->sysctl_optmem_max) ? BPF_CORE_READ(core, sysctl_optmem_max) :
								    optmem_max;

	return sk->sk_omem_alloc.counter + CACHE_LINES(bpf_core_type_size(struct sk_buff)) +
		       CACHE_LINES(bpf_core_type_size(struct skb_shared_info)) > most;
}

/* Might the notification of the send before serve for this one, too, as msg_zerocopy_realloc() decides? It
 * is in the last packet that is not sent yet, which no refusal changes. That needs no option memory. Only
 * the size of the send is not known here. One that is not the socket's own is io_uring's: then the kernel
 * refuses whatever the limits are. */
static __always_inline bool may_extend(const struct sock *sk)
{
	u64 head = (u64)sk + bpf_core_field_offset(struct sock, sk_write_queue);
	const struct sk_buff *tail = sk->sk_write_queue.prev, *holder;
	const struct ubuf_info_msgzc *n;
	u32 sends;

	if (!tail || (u64)tail == head)
		return false;
	n = (const void *)uarg_of(tail);
	if (!n)
		return false;
	holder = holder_of((u64)n);
	sends = BPF_CORE_READ(n, len);
	return BPF_CORE_READ(holder, sk) != sk ||
	       (sends != NOTIFIED_SENDS_MOST && BPF_CORE_READ(n, bytelen) < NOTIFIED_BYTES_MOST &&
		BPF_CORE_READ(n, id) + sends == (u32)sk->sk_zckey.counter);
}

/* A zero-copy send that gets no notification fails with ENOBUFS: for want of option memory, or of pages that
 * the user may pin. In the second case the kernel frees the new notification, if it made one (watch_drop). No
 * other send comes here but one that fails, still with the lock. */
SEC("?fentry/sk_stream_error")
int BPF_PROG(watch_refused, struct sock *sk, int flags, int err)
{
	struct watch_slot *slot;

	if (err != ENOBUFS_RET || !(flags & MSG_ZEROCOPY_FLAG))
		return 0;
	slot = slot_find(cookie_of(sk));
	if (!slot)
		return 0;
	if (slot->unpinned)
		__sync_fetch_and_add(&slot->refused_memlock, 1);
	else if (!may_extend(sk))
		__sync_fetch_and_add(&slot->refused_optmem, 1);
	else if (!optmem_is_used_up(sk))
		__sync_fetch_and_add(&slot->refused_memlock, 1);
	else
		__sync_fetch_and_add(&slot->refused_by_unknown, 1);
	slot->unpinned = 0;
	return 0;
}

struct io_cqe___zc {
	s32 res;
	u32 flags;
} OF_KERNEL;

/* A notification of io_uring's lies in the request that it completes (io_uring/notif.h, 6.0). */
struct io_kiocb___zc {
	struct file *file;
	u8 opcode;
	struct io_cqe___zc cqe;
} OF_KERNEL;

struct io_notif_data___zc {
	struct ubuf_info uarg;
	bool zc_report;
} OF_KERNEL;

/* include/uapi/linux/io_uring.h */
#define IORING_OP_SEND_ZC_NUMBER 47
#define IORING_OP_SENDMSG_ZC_NUMBER 48
#define IORING_CQE_F_MORE_FLAG 2
#define IORING_CQE_F_NOTIF_FLAG 8
#define IORING_NOTIF_USAGE_ZC_COPIED_FLAG (1u << 31)

static __always_inline void ring_send_ended(const struct io_kiocb___zc *req)
{
	const struct socket *socket = BPF_CORE_READ(req, file, private_data);
	struct watch_slot *slot = slot_find(BPF_CORE_READ(socket, sk, __sk_common.skc_cookie.counter));

	if (slot)
		__sync_fetch_and_add(&slot->ring_sends, 1);
}

/* Whose it is stands in no notification: the send that it is of was noted (note_ring_send). */
static __always_inline void ring_notified(const struct io_kiocb___zc *req, u32 result)
{
	const struct io_notif_data___zc *notification = (const void *)req;
	u64 uarg = (u64)req + bpf_core_field_offset(struct io_notif_data___zc, uarg);
	u64 *cookie = bpf_map_lookup_elem(&ring_sends, &uarg);
	struct watch_slot *slot = cookie ? slot_find(*cookie) : NULL;

	if (!slot)
		return;
	__sync_fetch_and_add(&slot->ring_notified, 1);
	if (!bpf_core_field_exists(notification->zc_report) || !BPF_CORE_READ(notification, zc_report))
		slot->ring_silent = 1;
	else if (result & IORING_NOTIF_USAGE_ZC_COPIED_FLAG)
		__sync_fetch_and_add(&slot->ring_copied, 1);
}

/* io_uring's sends by reference pass no error queue: the send ends with the promise of a notification (F_MORE),
 * also if it fails, and that is a completion of its own, which tells of copies if it was asked to. */
SEC("?tp_btf/io_uring_complete")
int BPF_PROG(watch_ring, void *ring, void *request)
{
	const struct io_kiocb___zc *req = request;
	u32 flags;
	u8 opcode;

	if (!ring_sends_noted || !req)
		return 0;
	flags = BPF_CORE_READ(req, cqe.flags);
	opcode = BPF_CORE_READ(req, opcode);
	if (flags & IORING_CQE_F_NOTIF_FLAG)
		ring_notified(req, BPF_CORE_READ(req, cqe.res));
	else if ((opcode == IORING_OP_SEND_ZC_NUMBER || opcode == IORING_OP_SENDMSG_ZC_NUMBER) &&
		 flags & IORING_CQE_F_MORE_FLAG)
		ring_send_ended(req);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
