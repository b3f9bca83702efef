// SPDX-License-Identifier: GPL-2.0
/*
 * What sockets that are born or die in the window moved, by their sequence numbers.
 *
 * Bytes sent are final when a socket moves to CLOSE: the kernel clears the queues before, but not the
 * numbers. Bytes received are final when it is destroyed, or disconnected: they may be read after a reset.
 */
#include "bpf/include/census.bpf.h"
#include "bpf/include/queues.bpf.h"
#include "bpf/include/sizes.bpf.h"
#include "bpf/include/tls.bpf.h"
#include "bpf/include/who.bpf.h"


/* A socket that listens has no book; those that it accepts learn whose it is. */
static __always_inline void note_listener(struct sock *sk)
{
	struct watch_task task = {};

	if (!lock_is_owned(sk))
		return;
	task_describe_current(&task);
	heir_note(sk, &task, current_is_member(&task));
}

/* The FIN is the last of what is unsent. */
static __always_inline u64 unsent_of(const struct watch_reading *r)
{
	return r->unsent - (r->fin_queued && r->unsent);
}

/* The socket connects; it may have been connected before. */
VERIFIED_ONCE int life_begin(struct watch_book *book)
{
	struct watch_reading nothing = {}, *at_opening;
	struct watch_slot *slot;

	if (!book)
		return 0;
	slot = slot_of(book);
	at_opening = &book->opened;
	/* Notifications keep their numbers, and what lay in its queue when the window opened has left since, as the slot
	 * counts it, or was lost with that queue. */
	nothing.zerocopy_sends = nothing.first_id = at_opening->zerocopy_sends;
	nothing.referenced_pages = at_opening->referenced_pages;
	nothing.referenced_bytes = at_opening->referenced_bytes;
	nothing.spliced_bytes = at_opening->spliced_bytes;
	nothing.unsent_referenced_bytes = at_opening->unsent_referenced_bytes;
	if (book->flags & WATCH_CLOSED) {
		const struct watch_reading *first = &book->opened, *last = &book->closed;

		book->past_accepted += last->accepted - last->fin_queued - first->accepted + first->fin_queued;
		book->past_sent += last->sent - last->retransmitted - first->sent + first->retransmitted +
				   unsent_of(last) - unsent_of(first);
		book->past_returned += returned_of(last) - returned_of(first);
		book->past_retransmitted += last->retransmitted - first->retransmitted;
		if (unsent_of(last))
			book->flags |= WATCH_UNSENT_LOST;
		disconnection_note(book);
		/* TCP counts from 0 again. */
		if (slot)
			slot->departed_from -= last->sent;
	}
	book->urgent.due = 0;
	book->flags &= ~(WATCH_CLOSED | WATCH_READABLE);
	book->flags |= WATCH_ACTIVE;
	book->opened = nothing;
	/* The SYN that it will send. What Fast Open puts into it is copied (tcp_send_syn_data), and no turn of the send
	 * loop comes before. */
	book->opened.accepted = 1;
	if (!slot)
		return 0;
	slot->since = 1;
	slot->kind = WATCH_KIND_COPY;
	return 0;
}

struct tcp_fastopen_request {
	struct ubuf_info *uarg;
} OF_KERNEL;

struct tcp_sock___fastopen {
	struct tcp_fastopen_request *fastopen_req;
} OF_KERNEL;

/* The send that connects has taken its number before it connects (tcp_sendmsg_locked). */
static __always_inline bool connects_by_reference(const struct sock *sk, const struct tcp_sock *tp)
{
	const struct tcp_sock___fastopen *connecting = (const void *)tp;
	u64 uarg = (u64)BPF_CORE_READ(connecting, fastopen_req, uarg);

	return uarg && BPF_CORE_READ(holder_of(uarg), sk) == sk;
}

/* The first life that a book tells of: one that nobody saw, before the window, may have used up numbers of
 * notifications, which tcp_disconnect() does not set to 0. */
static __always_inline void numbers_go_on(struct watch_book *book, const struct sock *sk, const struct tcp_sock *tp)
{
	struct watch_slot *slot = slot_of(book);

	book->opened.zerocopy_sends = sk->sk_zckey.counter - connects_by_reference(sk, tp);
	book->opened.first_id = book->opened.zerocopy_sends;
	if (slot && book->opened.zerocopy_sends)
		completions_begin(slot, &book->opened, sk);
}

struct sock___err {
	int sk_err;
} OF_KERNEL;

/* It is not tcp_disconnect() that closes it, which throws away what is unread: an error, or both FINs are there. */
static __always_inline bool can_be_read_on(const struct sock___err *sk, int old)
{
	return sk->sk_err || old == BPF_TCP_FIN_WAIT2 || old == BPF_TCP_CLOSING || old == BPF_TCP_LAST_ACK;
}

/* A socket whose SYN was never answered accepted nothing but data in that SYN, and its numbers may not
 * be set. */
static __always_inline void life_end(struct watch_book *book, const struct tcp_sock *tp, int old)
{
	struct watch_reading *last = &book->closed;
	struct watch_slot *slot = slot_of(book);

	reading_take(last, tp, old);
	urgent_settle(&book->urgent, tp);
	if (old == BPF_TCP_SYN_SENT && !last->sent) {
		last->accepted = book->opened.accepted;
		last->unsent = 0;
		last->unacked = 0;
	}
	book->flags |= WATCH_CLOSED;
	if (can_be_read_on((const void *)tp, old))
		book->flags |= WATCH_READABLE;
	if (slot)
		slot_charge(slot, last->accepted - last->fin_queued);
}

/* A connection that the kernel makes for an MPTCP socket of the subject's. */
static __always_inline struct watch_book *subflow_born(struct sock *sk, const struct tcp_sock *tp)
{
	struct watch_task *task = is_mptcp(tp) && !birth_is_early() ? mptcp_holder(tp) : NULL;
	struct watch_book *book = task && is_member(task->tgid) ? book_begin(sk) : NULL;

	if (!book)
		return NULL;
	book->flags |= WATCH_BORN | WATCH_OURS;
	book->owner = *task;
	return book;
}

/* Of inet_sock_set_state, the state before and after. Read anew each time: whoever verifies the program then has no
 * value to tell one path from another by, and follows a third of them. */
static __always_inline int old_state(const unsigned long long *ctx)
{
	return *(const volatile unsigned long long *)&ctx[1];
}

static __always_inline int new_state(const unsigned long long *ctx)
{
	return *(const volatile unsigned long long *)&ctx[2];
}

/* One that sent its SYN before this program was attached may not be found by the first walk. */
static __always_inline bool connects(const unsigned long long *ctx)
{
	return old_state(ctx) == BPF_TCP_SYN_SENT && new_state(ctx) != BPF_TCP_CLOSE;
}

/* The socket has no book yet: begins it if the socket begins here. */
static __always_inline struct watch_book *book_of_state(const unsigned long long *ctx, struct sock *sk,
							const struct tcp_sock *tp)
{
	struct watch_book *book;

	if (new_state(ctx) != BPF_TCP_SYN_SENT && old_state(ctx) != BPF_TCP_SYN_RECV && !connects(ctx))
		return NULL;
	book = book_born(sk);
	if (!book)
		book = subflow_born(sk, tp);
	if (book && connects(ctx))
		life_begin(book);
	return book;
}

static __always_inline bool is_noted(const struct watch_book *book, const unsigned long long *ctx)
{
	return book && book->state == new_state(ctx);
}

/* Its SYN_SENT met no program, and it has moved nothing since. */
static __always_inline bool began_unseen(const struct watch_book *book, const unsigned long long *ctx)
{
	return book->flags & WATCH_CLOSED && old_state(ctx) == BPF_TCP_SYN_SENT;
}

/* What it moved in that life cannot be told from what it moves in the next. */
static __always_inline void life_lost(struct watch_book *book)
{
	gauge_add(&watch_gauges.unseen_changes, 1);
	book->flags |= WATCH_LIFE_LOST;
}

SEC("tp_btf/inet_sock_set_state")
int state_change(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	const struct tcp_sock *tp;
	struct watch_book *book;
	bool first;

	if (!is_tcp(sk))
		return 0;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	if (is_noted(book, ctx))
		return 0;
	if (new_state(ctx) == BPF_TCP_LISTEN)
		note_listener(sk);
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || new_state(ctx) == BPF_TCP_LISTEN || old_state(ctx) == BPF_TCP_LISTEN)
		return 0;
	if (!book)
		book = book_of_state(ctx, sk, tp);
	if (!book)
		return 0;
	if (new_state(ctx) == BPF_TCP_SYN_SENT || began_unseen(book, ctx)) {
		first = !(book->flags & WATCH_CLOSED);
		if (fault_inject == FAULT_SKIP_STARTS && !first && new_state(ctx) == BPF_TCP_SYN_SENT)
			return 0;
		if (first && book->state && book->state != BPF_TCP_CLOSE)
			life_lost(book);
		life_begin(book);
		if (first)
			numbers_go_on(book, sk, tp);
	}
	if (!book->addresses_known && new_state(ctx) != BPF_TCP_SYN_SENT)
		addresses_take(book, sk);
	owner_note_current(book, sk);
	ours_note(book);
	layers_note(book, tp);
	if (book->layers & 1u << WATCH_LAYER_MPTCP)
		mptcp_owner_note(book, tp);
	if (new_state(ctx) == BPF_TCP_CLOSE) {
		if (fault_inject == FAULT_SKIP_CLOSES)
			return 0;
		if (book->flags & WATCH_CLOSED && old_state(ctx) != BPF_TCP_CLOSE)
			life_lost(book);
		life_end(book, tp, old_state(ctx));
	}
	book->state = new_state(ctx);
	return 0;
}

/* Loaded once for both programs of a moment, of which each calls it last. */
#define LOADED_ONCE(name, program) \
	struct { \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY); \
		__uint(max_entries, 1); \
		__uint(key_size, sizeof(u32)); \
		__array(values, int(unsigned long long *)); \
	} name SEC(".maps") = { .values = { (void *)&(program) } }

/*
 * The kernel skips a program for a softirq that interrupts it (kernel/bpf/trampoline.c,
 * __bpf_prog_enter_recur), and sockets change state in tasks and in softirqs: of 1,024 that connect at
 * once, some would be missed. So each change has two programs. A task is in one of them at a time, and a
 * softirq that interrupts it runs the other. The second one that runs finds the change noted. What a program calls
 * last is not skipped: only how it was entered counts.
 */
LOADED_ONCE(state_changes, state_change);

SEC("?tp_btf/inet_sock_set_state")
int socket_state(unsigned long long *ctx)
{
	if (fault_inject != FAULT_SKIP_STATE)
		bpf_tail_call_static(ctx, &state_changes, 0);
	return 0;
}

SEC("?tp_btf/inet_sock_set_state")
int socket_state_again(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];

	if (is_tcp(sk) && !is_noted(bpf_sk_storage_get(&watch_books, sk, 0, 0), ctx))
		bpf_tail_call_static(ctx, &state_changes, 0);
	return 0;
}

static __always_inline bool is_dead(const struct watch_book *book)
{
	return book && book->flags & WATCH_DIED;
}

SEC("tp_btf/tcp_destroy_sock")
int death(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct watch_book *book = bpf_sk_storage_get(&watch_books, sk, 0, 0);

	if (fault_inject == FAULT_SKIP_ENDS)
		return 0;
	if (!tp || is_dead(book))
		return 0;
	if (!book) {
		if (born_unseen(sk, tp))
			gauge_add(&watch_gauges.unseen_births, 1);
		return 0;
	}
	census_end(book);
	if (sizes_wanted)
		holds_end(sk, slot_of(book));
	if (!(book->flags & WATCH_CLOSED)) {
		gauge_add(&watch_gauges.unseen_changes, 1);
		/* By the last state that was seen: it is CLOSE by now, which does not tell whether a FIN was sent. */
		life_end(book, tp, book->state);
	}
	reading_take(&book->now, tp, BPF_TCP_CLOSE);
	closed_read_on(book, tp, &book->now);
	owner_note_current(book, sk);
	layers_note(book, tp);
	owner_note_holder(book);
	book->flags |= WATCH_DIED;
	counts_take(book);
	if (book->slot.tls)
		tls_ciphers_forget(book->cookie);
	if (book->slot.tls && !book_is_ours(book))
		tls_book_drop(book->cookie);
	if (book_is_ours(book))
		death_tell(book);
	slot_give_back(book);
	return 0;
}

/* connect() with AF_UNSPEC: without trampolines the last receive that ended tells instead. */
SEC("?fentry/tcp_disconnect")
int BPF_PROG(socket_disconnect, struct sock *sk)
{
	if (is_tcp(sk))
		closed_socket_read(sk, true);
	return 0;
}

LOADED_ONCE(deaths_of_sockets, death);

SEC("?tp_btf/tcp_destroy_sock")
int socket_death(unsigned long long *ctx)
{
	if (fault_inject != FAULT_SKIP_STATE)
		bpf_tail_call_static(ctx, &deaths_of_sockets, 0);
	return 0;
}

SEC("?tp_btf/tcp_destroy_sock")
int socket_death_again(unsigned long long *ctx)
{
	struct sock *sk = (void *)ctx[0];

	if (!is_dead(bpf_sk_storage_get(&watch_books, sk, 0, 0)))
		bpf_tail_call_static(ctx, &deaths_of_sockets, 0);
	return 0;
}

/* After both of these. Two programs, for the same reason. */
SEC("?tp_btf/tcp_destroy_sock")
int BPF_PROG(socket_drop, struct sock *sk)
{
	book_drop(sk);
	return 0;
}

SEC("?tp_btf/tcp_destroy_sock")
int BPF_PROG(socket_drop_again, struct sock *sk)
{
	book_drop(sk);
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
