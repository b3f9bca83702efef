/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Begins books, and counts them as they begin, as they end and as they are there: what does not add up, no
 * program saw.
 *
 * A kernel may run no program while certain tasks are current, or skip one that is interrupted on its
 * processor (docs/METHOD.md). Then a socket begins without a book, or a book goes with its socket without
 * having been handed over.
 *
 * A census may run while sockets begin and end. It counts the books that had begun before it: each book
 * has the number of the census that will be the first to count it. Of the younger ones there are sums of
 * their own, one for each of two numbers in turn; user space clears the one that comes next.
 */
#ifndef COPYSCOPE_CENSUS_BPF_H
#define COPYSCOPE_CENSUS_BPF_H

#include "bpf/include/who.bpf.h"

struct inet_connection_sock___acks {
	struct {
		u32 lrcvtime;
	} icsk_ack;
} OF_KERNEL;

/* The number of the next census. */
volatile __u32 census_next __weak = 0;
/* All hooks are there, and from here on what they tell is counted. */
volatile __u32 window_is_open __weak = 0;
/* Each socket that there is has a book: since when, in tcp_jiffies32. */
volatile __u32 window_jiffies __weak = 0;

/* The storage is there, so that a census that has not come by yet will find it. */
static __always_inline void census_begin(struct watch_book *book)
{
	u32 next = census_next;

	book->census = next;
	gauge_add(&watch_gauges.begun, 1);
	gauge_add(&watch_gauges.begun_lately[next & 1], 1);
}

static __always_inline void census_end(const struct watch_book *book)
{
	u32 next = census_next;

	gauge_add(&watch_gauges.ended, 1);
	if (book->census == next)
		gauge_add(&watch_gauges.ended_lately[next & 1], 1);
	/* This census met it, and it ended since. */
	else if (book->met == next)
		gauge_add(&watch_gauges.ended_after, 1);
}

static __always_inline void book_take_slot(struct watch_book *book)
{
	book->slot_at = slot_take(book->cookie);
	if (!book->slot_at)
		book->flags |= WATCH_NO_SLOT;
}

/* Finds the socket's book or begins one. @cookie: the socket's; 0: it may have none yet. */
static __always_inline struct watch_book *book_begin_as(struct sock *sk, u64 cookie)
{
	struct watch_book *book = bpf_sk_storage_get(&watch_books, sk, 0,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);

	/* Another processor may just have begun the storage, for this book or for another tool's. */
	if (!book)
		book = bpf_sk_storage_get(&watch_books, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!book) {
		gauge_add(&watch_gauges.unbooked, 1);
		return NULL;
	}
	if (book->cookie)
		return book;
	book->cookie = cookie ? cookie : bpf_get_socket_cookie(sk);
	census_begin(book);
	book->netns = netns_of(sk);
	book_take_slot(book);
	if (BPF_CORE_READ_BITFIELD_PROBED(sk, sk_kern_sock))
		book->flags |= WATCH_IN_KERNEL;
	return book;
}

static __always_inline struct watch_book *book_begin(struct sock *sk)
{
	return book_begin_as(sk, 0);
}

/* What would count its calls may not be there yet: the walk that is to come begins its book. */
static __always_inline bool birth_is_early(void)
{
	return opened_by_walk && !window_is_open;
}

/* Is a socket that begins here wanted? Which task accepts it shows later. */
static __always_inline bool birth_is_wanted(struct sock *sk)
{
	struct heir *heir;

	if (watch_filter == WATCH_OF_ALL || watch_filter == WATCH_OF_PORTS || inum_is_ours(netns_of(sk)))
		return true;
	heir = bpf_sk_storage_get(&heirs, sk, 0, 0);
	/* Of a run, who listens is known before the first connection comes; a server of others would take the slots. */
	if (heir && (heir->ours || !details_wanted))
		return true;
	return lock_is_owned(sk) && current_becomes_ours();
}

static __always_inline void inherit(struct watch_book *book, struct sock *sk)
{
	struct heir *heir = bpf_sk_storage_get(&heirs, sk, 0, 0);

	if (!heir || book->owner.tgid)
		return;
	book->owner = heir->task;
	book->flags |= WATCH_GUESSED | (heir->ours ? WATCH_OURS : 0);
}

/* A socket begins here: its book, or NULL if nobody wants one. */
static __always_inline struct watch_book *book_born(struct sock *sk)
{
	struct watch_book *book;

	if (fault_inject == FAULT_SKIP_BIRTHS || birth_is_early() || !birth_is_wanted(sk))
		return NULL;
	book = book_begin(sk);
	if (!book)
		return NULL;
	book->flags |= WATCH_BORN;
	inherit(book, sk);
	return book;
}

/* A socket that Fast Open handed to its program before the handshake ended: no change of state has told of it. */
static __always_inline struct watch_book *book_born_early(struct sock *sk)
{
	struct watch_book *book;

	if (sk->__sk_common.skc_state != BPF_TCP_SYN_RECV)
		return NULL;
	book = book_born(sk);
	if (book) {
		addresses_take(book, sk);
		owner_note_current(book, sk);
		ours_note(book);
	}
	return book;
}

/* Fast Open hands a socket over before its book is begun. */
static __always_inline struct watch_slot *slot_of_sender(struct sock *sk)
{
	struct watch_slot *slot = slot_find(cookie_of(sk));
	struct watch_book *book = slot ? NULL : book_born_early(sk);

	return book ? slot_of(book) : slot;
}

/*
 * The last that is asked of a socket's book, while the socket still lives. A kernel that frees a socket with its
 * storage clears, since 7.0 (5d800f87d0a5, "bpf: Support lockless unlink when freeing map or local storage"), the
 * pointer to the socket that a walk over books is about to follow.
 */
static __always_inline void book_drop(struct sock *sk)
{
	bpf_sk_storage_delete(&watch_books, sk);
}

/* This census met it. */
static __always_inline bool is_met(const struct watch_book *book)
{
	return book->met == census_next;
}

/* A walk meets a book. */
static __always_inline void census_meet(struct watch_book *book)
{
	u32 next = census_next;

	if (book->flags & WATCH_DIED || book->census == next || book->met == next)
		return;
	book->met = next;
	watch_gauges.met++;
}

static __always_inline bool is_in_window(u32 jiffies)
{
	return jiffies && (int)(jiffies - window_jiffies) > 0;
}

/* A socket has no book, and it ends, or a descriptor holds it in CLOSE. One that listened or was never connected has
 * none, nor has one that was closed before the window and that a descriptor of another process held: neither moved data
 * since then. What tcp_disconnect() took its numbers and its peer from may have. While hooks are attached and the first
 * walk is under way, many that are older end without a book. */
static __always_inline bool born_unseen(const struct sock *sk, const struct tcp_sock *tp)
{
	const struct inet_connection_sock___acks *icsk = (const void *)tp;

	return watch_mode == WATCH_MODE_READ && inum_is_ours(netns_of(sk)) &&
	       (tp->bytes_sent || tp->bytes_received || !sk->__sk_common.skc_dport) &&
	       (is_in_window(tp->lsndtime) || is_in_window(BPF_CORE_READ(icsk, icsk_ack.lrcvtime)));
}

#endif
