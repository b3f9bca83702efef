/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Begins the books of UDP sockets. No change of state tells of them: a book begins with the first call of a task of
 * the subject that uses the socket.
 */
#ifndef COPYSCOPE_DATAGRAM_BPF_H
#define COPYSCOPE_DATAGRAM_BPF_H

#include "bpf/include/detail.bpf.h"

/* User space learns of the book as it begins: what is counted lies in tables that outlive the socket. */
static __always_inline struct watch_slot *datagram_born(struct sock *sk, u64 cookie)
{
	struct watch_book *book = book_begin_as(sk, cookie);
	struct watch_slot *slot = book ? slot_of(book) : NULL;

	if (!slot)
		return NULL;
	book->flags |= WATCH_BORN | WATCH_OURS;
	task_describe_current(&book->owner);
	addresses_take(book, sk);
	slot->datagrams = 1;
	slot->ours = 1;
	if (bpf_ringbuf_output(&deaths, book, sizeof(*book), BPF_RB_NO_WAKEUP))
		gauge_add(&watch_gauges.lost_deaths, 1);
	return slot;
}

/* The slot of a socket for datagrams, if it is the subject's; *@place: where it lies. The workload has asked for the
 * cookies of its sockets, so that they have them; some hooks may not give them one. */
static __always_inline struct watch_slot *datagram_slot(struct sock *sk, u32 *place)
{
	u64 cookie = sk && is_udp(sk) ? cookie_of(sk) : 0;
	struct watch_slot *slot;

	if (!cookie)
		return NULL;
	slot = slot_at(cookie, place);
	/* A packet of another program's may pass a device while a task of the subject is current. */
	if (slot || !task_is_ours() || !netns_is_ours(netns_of(sk)) || !datagram_born(sk, cookie))
		return slot;
	return slot_at(cookie, place);
}

#endif
