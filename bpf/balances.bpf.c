// SPDX-License-Identifier: GPL-2.0
/*
 * What every open socket holds, read under its lock: opening balances, and readings of books.
 *
 * iter/tcp holds the socket's lock around the program (since 04c7820b776f, "bpf: tcp: Bpf iter batching
 * and lock_sock", 5.15), so no packet, send or receive changes a number in between. It visits the
 * sockets of the network namespace of the thread that made the iterator, and none that are closed:
 * those are found by their storage, in any namespace, or by the descriptors that hold them.
 */
#include "bpf/include/census.bpf.h"
#include "bpf/include/datagram.bpf.h"
#include "bpf/include/queues.bpf.h"
#include "bpf/include/tls_held.bpf.h"
#include "bpf/include/who.bpf.h"

enum { WAITERS_READ = 4 };

/* A call that sleeps stays in the socket's queue of waiters until it has the lock again, also when it was
 * woken already. Those of epoll, which stay there, too, belong to no task. */
static __always_inline u32 calls_sleep(const struct sock *sk)
{
	const struct socket_wq *wq = BPF_CORE_READ(sk, sk_wq);
	const void *head = (void *)wq + bpf_core_field_offset(struct socket_wq, wait.head);
	const struct list_head *node = BPF_CORE_READ(wq, wait.head.next);

	for (int i = 0; i < WAITERS_READ; i++) {
		const struct wait_queue_entry *waiter =
			(void *)node - bpf_core_field_offset(struct wait_queue_entry, entry);

		if (!node || node == head)
			return 0;
		if (BPF_CORE_READ(waiter, private))
			return 1;
		node = BPF_CORE_READ(node, next);
	}
	return 1;
}

static __always_inline bool has_tls(const struct watch_book *book)
{
	return book->layers & 1u << WATCH_LAYER_KTLS;
}

enum { TLS_CONF_DEVICE = 2 };	/* TLS_HW, TLS_HW_RECORD: include/net/tls.h */

/* It may have had keys before the programs were there. A frame of its own: with that of the walk over queues they would
 * fill the stack. */
static __noinline void tls_open(const struct sock *sk)
{
	const struct tls_context *context = tls_context_of(sk);
	u32 sends = BPF_CORE_READ_BITFIELD_PROBED(context, tx_conf);
	u32 receives = BPF_CORE_READ_BITFIELD_PROBED(context, rx_conf);
	struct tls_book *tls = context && (sends || receives) ? tls_book_of(sk) : NULL;
	struct watch_slot *slot = slot_find(cookie_of(sk));

	if (!tls)
		return;
	if (slot && tls_pushes(context))
		slot->kind = WATCH_KIND_SPLICE;
	tls->device = sends >= TLS_CONF_DEVICE || receives >= TLS_CONF_DEVICE;
	tls_begin(tls, sk);
	held_take(tls, sk);
	tls->first = tls->now;
}

static __noinline void tls_note(const struct watch_book *book, const struct sock *sk)
{
	struct tls_book *tls = tls_book_find(book->cookie);

	if (!tls)
		return;
	held_take(tls, sk);
	if (bpf_map_update_elem(&tls_read, &book->cookie, tls, BPF_ANY))
		note_lost_update();
}

/* The window opens for this socket now. Its slot is written where it lies: a second one would fill the stack. */
static __always_inline void book_open(struct watch_book *book, const struct tcp_sock *tp, bool tls)
{
	const struct sock *sk = (const void *)tp;
	struct watch_slot *slot = slot_of(book);
	struct slot_way *way = way_of(book);

	book->opened = book->now;
	urgent_begin(&book->urgent, tp);
	book->past_accepted = book->past_sent = book->past_returned = book->past_retransmitted = 0;
	bpf_map_delete_elem(&tls_books, &book->cookie);
	if (slot) {
		__builtin_memset(slot, 0, sizeof(*slot));
		/* Behind it, so that no send of before is taken for one of the window whose end was not counted. */
		slot->opened_ns = bpf_ktime_get_ns();
		completions_begin(slot, &book->opened, sk);
		slot->rx_settled = WATCH_UNSETTLED;
		slot->since = book->now.accepted - book->now.fin_queued;
		if (packets_watched)
			departures_note(slot, book->now.sent);
		stack_sum_clear(book->slot_at - 1);
	}
	if (way)
		way->rx_copied = 0;
	if (tls && has_tls(book))
		tls_open(sk);
	ours_note(book);
	pages_opened(book, false);
}

/* The walk over descriptors came before: who holds the socket now? */
static __always_inline void holder_apply(struct watch_book *book)
{
	bool ours;

	brought_apply(book);
	if (book->pass != watch_pass)
		return;
	ours = is_member(book->holder.tgid);
	if (!book->owner_holds) {
		owner_note(book, &book->holder, ours);
		return;
	}
	/* Programs change their names. */
	if (same_task(&book->owner, &book->holder))
		book->owner = book->holder;
	book->flags &= ~WATCH_GUESSED;
	if (ours)
		book->flags |= WATCH_OURS;
}

/* Nonzero: there is no room, and the kernel has the program walk over this one again. */
static __always_inline long book_write(struct watch_book *book, struct seq_file *seq)
{
	return book_is_ours(book) ? bpf_seq_write(seq, book, sizeof(*book)) : 0;
}

static __always_inline long book_report(struct watch_book *book, struct seq_file *seq)
{
	ours_note(book);
	counts_take(book);
	return book_write(book, seq);
}

static __always_inline int walk_socket(struct bpf_iter__tcp *ctx, bool tls)
{
	struct sock_common *common = ctx->sk_common;
	struct seq_file *seq = ctx->meta->seq;
	struct watch_book *book;
	struct tcp_sock *tp;
	struct sock *sk;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	if (common->skc_state == BPF_TCP_LISTEN) {
		mptcp_listens(tp);
		return 0;
	}
	sk = (void *)tp;
	book = watch_mode == WATCH_MODE_OPEN ? book_begin(sk) :
					       bpf_sk_storage_get(&watch_books, sk, 0, 0);
	if (!book) {
		/* An accepted socket gets one when it leaves this state. */
		if (watch_mode == WATCH_MODE_READ && common->skc_state != BPF_TCP_SYN_RECV)
			watch_gauges.bookless++;
		return 0;
	}
	census_meet(book);
	reading_take(&book->now, tp, common->skc_state);
	book->state = common->skc_state;
	book->now.calls_sleep = calls_sleep(sk);
	if (book->now.unsent || book->now.unacked)
		queues_walk(book, address_of(sk));
	else
		queues_empty(&book->now);
	addresses_take(book, sk);
	layers_note(book, tp);
	if (watch_mode == WATCH_MODE_OPEN) {
		if (!(book->flags & WATCH_BORN))
			book_open(book, tp, tls);
		return 0;
	}
	urgent_settle(&book->urgent, tp);
	if (tls && has_tls(book))
		tls_note(book, sk);
	holder_apply(book);
	mptcp_apply(book, tp);
	book_report(book, seq);
	return 0;
}

SEC("?iter/tcp")
int walk_sockets(struct bpf_iter__tcp *ctx)
{
	return walk_socket(ctx, false);
}

/* Where kernel TLS is counted: libbpf looks for its types in every module, which not every user may. */
SEC("?iter/tcp")
int walk_sockets_tls(struct bpf_iter__tcp *ctx)
{
	return walk_socket(ctx, true);
}

/* Its calls take no lock. Nonzero as above. */
static __always_inline long datagrams_walk(struct sock *sk, struct watch_book *book, struct seq_file *seq)
{
	if (!datagrams_watch)
		return 0;
	datagram_reading(book, sk);
	holder_apply(book);
	ours_note(book);
	return book_write(book, seq);
}

/* Those in namespaces that we did not enter are read as they stand. Nonzero as above. */
static __always_inline long closed_walk(struct sock *sk, struct watch_book *book, struct seq_file *seq, bool closed, bool tls)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	bool still;

	if (!tp)
		return 0;
	still = reading_take_unlocked(&book->now, tp, sk->__sk_common.skc_state);
	queues_empty(&book->now);
	if (!closed)
		book->flags |= WATCH_TORN;
	else if (book->flags & WATCH_CLOSED && still)
		closed_read_on(book, tp, &book->now);
	if (tls && has_tls(book))
		tls_note(book, sk);
	holder_apply(book);
	return book_report(book, seq);
}

/* The kernel goes on after so many of a list as it has passed, and misses as many as left that list since: what one walk
 * missed the next one of this census meets, and nothing else. */
static __always_inline int walk_closed_socket(struct sock *sk, struct watch_book *met, struct seq_file *seq, bool tls)
{
	struct watch_book *book;
	bool closed;

	if (!sk || !met || is_met(met))
		return 0;
	closed = sk->__sk_common.skc_state == BPF_TCP_CLOSE;
	/* It has opened since the walk over sockets, or that one missed it: the next census has it. */
	if (!is_udp(sk) && !closed && inum_is_ours(netns_of(sk)))
		return 0;
	book = bpf_sk_storage_get(&watch_books, sk, 0, 0);
	if (!book || book->flags & WATCH_DIED)
		return 0;
	if (is_udp(sk) ? !datagrams_walk(sk, book, seq) : !closed_walk(sk, book, seq, closed, tls))
		census_meet(book);
	return 0;
}

SEC("?iter/bpf_sk_storage_map")
int walk_closed(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	return walk_closed_socket(ctx->sk, ctx->value, ctx->meta->seq, false);
}

SEC("?iter/bpf_sk_storage_map")
int walk_closed_tls(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	return walk_closed_socket(ctx->sk, ctx->value, ctx->meta->seq, true);
}

/* For a kernel that refuses walks over the elements of maps. One that several descriptors hold is met several times. */
static __always_inline int walk_held_socket(struct bpf_iter__task_file *ctx, bool tls)
{
	struct file *file = ctx->file;
	struct socket *socket = file ? bpf_sock_from_file(file) : NULL;
	struct sock *sk = socket ? socket->sk : NULL;

	if (!sk)
		return 0;
	return walk_closed_socket(sk, bpf_sk_storage_get(&watch_books, sk, 0, 0), ctx->meta->seq, tls);
}

SEC("?iter/task_file")
int walk_held(struct bpf_iter__task_file *ctx)
{
	return walk_held_socket(ctx, false);
}

SEC("?iter/task_file")
int walk_held_tls(struct bpf_iter__task_file *ctx)
{
	return walk_held_socket(ctx, true);
}

/* Whether sockets of this machine may be in a sockmap, which moves bytes that TCP's numbers do not show. */
SEC("?iter/bpf_map")
int walk_maps(struct bpf_iter__bpf_map *ctx)
{
	const struct bpf_map *map = ctx->map;

	if (map && (map->map_type == BPF_MAP_TYPE_SOCKMAP || map->map_type == BPF_MAP_TYPE_SOCKHASH))
		watch_gauges.sockmaps++;
	return 0;
}

char LICENSE[] SEC("license") __weak = "GPL";
