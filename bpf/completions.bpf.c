// SPDX-License-Identifier: GPL-2.0
/*
 * What becomes of zero-copy sends: completed, and their pages released; or refused, and by which limit.
 */
#include "bpf/include/detail.bpf.h"
#include "bpf/include/sizes.bpf.h"
#include "bpf/include/queues.bpf.h"

#define NOTIFIED_SENDS_MOST (0xffff - 1)	/* msg_zerocopy_realloc() */
#define NOTIFIED_BYTES_MOST (1 << 19)

/* One notification of the subject's is to be lost, and it is this one. */
static __always_inline bool is_lost_on_purpose(struct sock *sk)
{
	const struct watch_book *book;

	if (fault_inject != FAULT_DROP_REPORT || watch_gauges.injected_faults)
		return false;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	if (!book || !(book->flags & WATCH_OURS))
		return false;
	watch_gauges.injected_faults = 1;
	return true;
}

enum { COUNT_TRIES = 4 };

/* The kernel reports any error here, and anew whatever still lies behind what the process reads: the newest notification
 * is told from one that was counted by its numbers, which no other one gets. Only the newest grows, at its end
 * (skb_zerocopy_notify_extend). Another processor may count at the same time. Returns how many sends of @n are new, its
 * last ones. */
static __always_inline u32 newly_notified(struct watch_slot *slot, const struct notified *n)
{
	u64 now = noted_as(n);

	for (int i = 0; i < COUNT_TRIES; i++) {
		u64 known = slot->newest;
		u32 from = known && known >> 32 == n->first ? (u32)known : n->first;

		/* Another processor has counted what it had by then, and more. */
		if ((int)(n->last + 1 - from) <= 0)
			return 0;
		if (__sync_val_compare_and_swap(&slot->newest, known, now) == known)
			return n->last + 1 - from;
	}
	slot->unseen_reports++;
	return 0;
}

/* They came out of order: they were skipped before, or else their pages were still held by a packet that no queue of the
 * socket had any more when the window opened. */
static __always_inline void late_notified(struct watch_slot *slot, u32 from, u32 sends)
{
	u32 skipped = slot->skipped_ids < sends ? slot->skipped_ids : sends;

	slot->skipped_ids -= skipped;
	if ((int)(from - slot->opened_id) < 0)
		slot->opened_sends += sends - skipped;
}

/* A notification was put at the end of the error queue or added to the one there. The process may have
 * read it already: then the next one tells of it, too. */
SEC("?tp_btf/inet_sk_error_report")
int BPF_PROG(completion, struct sock *sk)
{
	struct watch_slot *slot;
	struct notified n = {};
	u32 sends, from;
	int late;

	note_seen(SEEN_REPORT);
	slot = slot_find(cookie_of(sk));
	if (!slot || is_lost_on_purpose(sk))
		return 0;
	if (!notified_last(sk, &n)) {
		slot->unseen_reports++;
		return 0;
	}
	sends = newly_notified(slot, &n);
	if (!sends)
		return 0;
	from = n.last + 1 - sends;
	/* skb_zerocopy_notify_extend() leaves the code as it is. */
	if (from != n.first)
		slot->added_sends += sends;
	late = slot->next_id - from;
	if (late > 0)
		late_notified(slot, from, (u32)late < sends ? (u32)late : sends);
	else
		slot->skipped_ids += -late;
	if ((int)(n.last + 1 - slot->next_id) > 0)
		slot->next_id = n.last + 1;
	slot->completed_sends += sends;
	if (n.copied)
		slot->copied_sends += sends;
	if (is_tcp(sk))
		holds_posted(sk, slot, from, n.last + 1, n.copied);
	return 0;
}

struct netns_core___optmem {
	int sysctl_optmem_max;
} OF_KERNEL;

/* The limit in force, and what sock_omalloc() asks for an empty packet. Up to 6.7 one number for all
 * namespaces (f5769faeec36, "net: Namespace-ify sysctl_optmem_max"), which user space reads before each window. */
volatile int optmem_max __weak = 0;

#define CACHE_LINES(bytes) (((bytes) + 63) & ~63)

static __always_inline bool optmem_is_used_up(const struct sock *sk)
{
	const struct netns_core___optmem *core = (void *)POINTER_IN(sock, sk, __sk_common.skc_net.net) +
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
	const struct sk_buff *tail = POINTER_IN(sock, sk, sk_write_queue.prev), *holder;
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
 * the user may pin. In the second case the kernel frees the new notification, if it made one (drop). No
 * other send comes here but one that fails, still with the lock. */
SEC("?fentry/sk_stream_error")
int BPF_PROG(refused, struct sock *sk, int flags, int err)
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
	u64 user_data;
	s32 res;
	u32 flags;
} OF_KERNEL;

struct io_wq_work_node___zc {
	struct io_wq_work_node___zc *next;
} OF_KERNEL;

/* A notification of io_uring's lies in the request that it completes (io_uring/notif.h, 6.0). */
struct io_kiocb___zc {
	struct file *file;
	u8 opcode;
	struct io_cqe___zc cqe;
	struct io_wq_work_node___zc comp_list;
} OF_KERNEL;

/* Requests that complete together, one after the other (__io_submit_flush_completions). */
struct io_wq_work_list___zc {
	struct io_wq_work_node___zc *first;
} OF_KERNEL;

struct io_submit_state___zc {
	struct io_wq_work_list___zc compl_reqs;
} OF_KERNEL;

struct io_ring_ctx___zc {
	struct io_submit_state___zc submit_state;
} OF_KERNEL;

struct io_notif_data___zc {
	struct ubuf_info uarg;
	bool zc_report;
} OF_KERNEL;

#define ENOENT_NUMBER 2

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

/* The last reference to a notification is gone, and its pages are released with it. @clean: none
 * of them was copied. @cookie: of the socket if no pin tells; 0: the notification's holder does. */
static __always_inline int notification_ends(u64 key, u64 cookie, u16 sends, bool clean)
{
	struct pin *pin, ended = {};
	struct books *b;
	long err;

	if (!window_open())
		return 0;
	pin = bpf_map_lookup_elem(&pins, &key);
	if (pin) {
		/* Whoever takes the pin away counts it. */
		ended = *pin;
		err = bpf_map_delete_elem(&pins, &key);
		if (err) {
			if (err != -ENOENT_NUMBER)
				note_lost_update();
			return 0;
		}
		b = books_find(ended.cookie);
	} else {
		/* A send that had to copy all its bytes: no skb holds its notification. */
		b = books_find(cookie ? cookie : cookie_of_holder(key));
	}
	if (!b)
		return 0;
	if (fault_inject == FAULT_DROP_COMPLETION && sends && !gauges.injected_faults) {
		add(&gauges.injected_faults, 1);
		sends--;
	}
	count(b, COUNT_completed_sends, sends);
	if (!clean)
		count(b, COUNT_copied_sends, sends);
	count(b, COUNT_released_pages, ended.pages);
	add(&gauges.outstanding_pages, -ended.pages);
	return 0;
}

/* Whose it is stands in no notification: the send that it is of was noted (note_ring_send). */
static __always_inline void ring_notified(const struct io_kiocb___zc *req, u32 result)
{
	const struct io_notif_data___zc *notification = (const void *)req;
	u64 uarg = (u64)req + bpf_core_field_offset(struct io_notif_data___zc, uarg);
	struct ring_send *noted = bpf_map_lookup_elem(&ring_sends, &uarg), send = {};
	struct watch_slot *slot;
	bool told = bpf_core_field_exists(notification->zc_report) && BPF_CORE_READ(notification, zc_report);
	bool copied = told && result & IORING_NOTIF_USAGE_ZC_COPIED_FLAG;

	if (noted)
		send = *noted;
	bpf_map_delete_elem(&ring_sends, &uarg);
	if (sizes_wanted)
		ring_hold_ends(uarg, send.moved_ns, told, copied);
	slot = send.moved_ns ? slot_find(send.cookie) : NULL;
	/* The window opens twice, if a walk finds first what needs more hooks: notes from between stay. */
	if (!slot || send.moved_ns < slot->opened_ns)
		return;
	__sync_fetch_and_add(&slot->ring_notified, 1);
	if (!told)
		slot->ring_silent = 1;
	else if (copied)
		__sync_fetch_and_add(&slot->ring_copied, 1);
	if (details_wanted)
		notification_ends(uarg, send.cookie, 1, !copied);
}

static __always_inline void ring_told(const struct io_kiocb___zc *req)
{
	u32 flags = BPF_CORE_READ(req, cqe.flags);
	u8 opcode = BPF_CORE_READ(req, opcode);

	if (flags & IORING_CQE_F_NOTIF_FLAG)
		ring_notified(req, BPF_CORE_READ(req, cqe.res));
	else if ((opcode == IORING_OP_SEND_ZC_NUMBER || opcode == IORING_OP_SENDMSG_ZC_NUMBER) &&
		 flags & IORING_CQE_F_MORE_FLAG && BPF_CORE_READ(req, cqe.res) > 0)
		ring_send_ended(req);
}

/* io_uring's sends by reference pass no error queue: the send ends with the promise of a notification (F_MORE),
 * also if it fails, and is none then; that is a completion of its own, which tells of copies if it was asked to. */
SEC("?tp_btf/io_uring_complete")
int BPF_PROG(ring_done, void *ring, void *request)
{
	if (ring_sends_noted && request)
		ring_told(request);
	return 0;
}

enum { TOGETHER_MOST = 1 << 16 };

struct overflow_walk {
	u64 node, user_data;
	s32 result;
	u32 flags;
	u64 found;		/* the request that it is of */
	bool ambiguous;		/* requests of several sockets would do */
};

static __always_inline u64 file_of(u64 request)
{
	return (u64)BPF_CORE_READ((const struct io_kiocb___zc *)request, file);
}

/* A notification is told once: its note goes with it. Equal sends of one socket count alike, whichever was told before. */
static long overflow_hop(u32 hop, void *arg)
{
	struct overflow_walk *w = arg;
	const struct io_wq_work_node___zc *node = (void *)w->node;
	u64 request = w->node - bpf_core_field_offset(struct io_kiocb___zc, comp_list);
	const struct io_kiocb___zc *req = (void *)request;
	u64 uarg = request + bpf_core_field_offset(struct io_notif_data___zc, uarg);

	if (!node)
		return 1;
	w->node = (u64)BPF_CORE_READ(node, next);
	if (BPF_CORE_READ(req, cqe.user_data) != w->user_data || BPF_CORE_READ(req, cqe.res) != w->result ||
	    BPF_CORE_READ(req, cqe.flags) != w->flags)
		return 0;
	if (w->flags & IORING_CQE_F_NOTIF_FLAG) {
		w->found = bpf_map_lookup_elem(&ring_sends, &uarg) ? request : 0;
		return w->found != 0;
	}
	w->ambiguous |= w->found && file_of(w->found) != file_of(request);
	w->found = request;
	return 0;
}

/* The ring of completions is full: the kernel keeps the completion until there is room, and tells of it here alone, and
 * not of which request. It is one of those that complete together, unless a worker completed it. */
SEC("?tp_btf/io_uring_cqe_overflow")
int BPF_PROG(ring_full, void *ring, u64 user_data, s32 result, u32 flags)
{
	struct overflow_walk w = { .user_data = user_data, .result = result, .flags = flags };
	const struct io_ring_ctx___zc *of = ring;

	if (!ring_sends_noted || !(flags & (IORING_CQE_F_NOTIF_FLAG | IORING_CQE_F_MORE_FLAG)))
		return 0;
	if (bpf_core_field_exists(of->submit_state.compl_reqs) &&
	    bpf_core_field_exists(((struct io_kiocb___zc *)0)->comp_list)) {
		w.node = (u64)BPF_CORE_READ(of, submit_state.compl_reqs.first);
		bpf_loop(TOGETHER_MOST, overflow_hop, &w, 0);
	}
	if (w.found && !w.ambiguous)
		ring_told((const void *)w.found);
	else
		gauge_add(&watch_gauges.rings_overflowed, 1);
	return 0;
}

/* As long as the compiler leaves it a function of its own. */
SEC("?fentry/__msg_zerocopy_callback")
int BPF_PROG(notification_end, struct ubuf_info_msgzc *uarg)
{
	/* Plain loads: the verifier knows the argument. */
	return window_open() ? notification_ends((u64)uarg, 0, uarg->len, BPF_CORE_READ_BITFIELD(uarg, zerocopy)) : 0;
}

/* Where the compiler has inlined it, each reference that is put passes here, and the last one
 * ends the notification. Seen on entry if no other is left.
 *
 * The kernel skips a program for a softirq that interrupts it (kernel/bpf/trampoline.c,
 * __bpf_prog_enter_recur), and puts are made in both. But a task is in one of these two programs at
 * a time, so the softirq runs the other one, which finds the end, too. */
SEC("?fentry/msg_zerocopy_complete")
int BPF_PROG(notification_put_enter, struct sk_buff *skb, struct ubuf_info *uarg, bool success)
{
	u64 key = (u64)uarg;
	bool clean = success && notification_clean(uarg);
	struct pin *pin;

	if (!window_open() || fault_inject == FAULT_SKIP_PUT_ENTRY)
		return 0;
	if (BPF_CORE_READ(uarg, refcnt.refs.counter) == 1)
		return notification_ends(key, 0, notification_sends(uarg), clean);
	pin = bpf_map_lookup_elem(&pins, &key);
	if (!pin)
		return 0;
	pin->sends = notification_sends(uarg);
	pin->clean = clean;
	return 0;
}

/* Two that are put at once see each other on entry; on exit both see none. The notification may be
 * on the error queue by now, but what it holds there begins with zeros (SKB_EXT_ERR). */
SEC("?fexit/msg_zerocopy_complete")
int BPF_PROG(notification_put_exit, struct sk_buff *skb, struct ubuf_info *uarg, bool success)
{
	u64 key = (u64)uarg;
	struct pin *pin = window_open() ? bpf_map_lookup_elem(&pins, &key) : NULL;

	if (!pin || fault_inject == FAULT_SKIP_PUT_EXIT)
		return 0;
	if (!success)
		pin->clean = false;
	return BPF_CORE_READ(uarg, refcnt.refs.counter) ? 0 :
	       notification_ends(key, 0, pin->sends, pin->clean);
}

char LICENSE[] SEC("license") __weak = "GPL";
