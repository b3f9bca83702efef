// SPDX-License-Identifier: GPL-2.0
/* What a socket's book says in bytes: its balances, and what moved at each site in between. */
#include "userspace/watch/books/books_socket.h"

#include <string.h>

#include "userspace/watch/books/books_detail.h"
#include "userspace/watch/books/books_fate.h"
#include "userspace/watch/books/books_tls.h"

static uint64_t sent_as(const struct watch_book *book, enum watch_kind kind)
{
	const struct watch_reading *last = watch_last_of(book);
	uint64_t bytes = book->slot.sent_as[kind];

	/* The move to CLOSE closed the last stretch. */
	if (book->slot.kind == kind && !(book->flags & WATCH_CLOSED))
		bytes += last->accepted - last->fin_queued - book->slot.since;
	return bytes;
}

static uint64_t refused_of(const struct watch_slot *slot)
{
	return slot->refused_optmem + slot->refused_memlock + slot->refused_by_unknown;
}

/* Refusals of a socket that never had a send by reference in flight, nor a notification unread: it used up no limit,
 * and each send by itself is more than one allows. */
static uint64_t refused_at_rest(const struct watch_book *book, const struct watch_hooked *hooked)
{
	const struct watch_slot *slot = &book->slot;
	bool rested = watch_last_of(book)->zerocopy_sends == book->opened.zerocopy_sends && !slot->opened_sends &&
		      !slot->ring_sends;

	return !rested ? 0 : hooked->limits ? slot->refused_memlock : refused_of(slot);
}

/* Where arrivals stand for copies, only those are told that no capture and no router may have made. */
static void fill_late_causes(struct watch_movements *m, const struct watch_book *book,
			     const struct watch_hooked *hooked)
{
	uint64_t late = m->site[SITE_late_copy].bytes, out = book->slot.late_on_way_out;

	if (!late)
		return;
	out = out < late ? out : late;
	m->late_by_tap_bytes = m->count[COUNT_tapped_bytes] < out ? m->count[COUNT_tapped_bytes] : out;
	out -= m->late_by_tap_bytes;
	if (book->slot.paths & WATCH_PATH_TUN)
		m->late_by_tun_bytes = out;
	else
		m->late_on_way_out_bytes = out;
	m->late_by_delivery_bytes = hooked->late_copies ? 0 : late;
}

/* A drop, a notification or a copy that no program saw may be of any socket that references. */
static void fill_late_copy(struct watch_movements *m, const struct watch_book *book,
			   const struct watch_hooked *hooked)
{
	bool none = watch_refers_to_nothing(book, m);

	watch_set_site(m, SITE_late_copy, watch_late_copies_were_seen(book, hooked, m) && (none || !hooked->skipped),
		 book->slot.late_copied);
	fill_late_causes(m, book, hooked);
	watch_set_count(m, COUNT_wire_referenced_bytes,
		  none || (watch_packets_were_watched(book, hooked) && watch_departures_are_whole(book)),
		  book->slot.sent_referenced);
	watch_set_count(m, COUNT_clean_bytes,
		  none || (watch_packets_were_watched(book, hooked) && hooked->devices && !book->slot.mixed),
		  book->slot.clean);
	watch_set_count(m, COUNT_reshaped_referenced_bytes,
		  none || (hooked->moved && watch_packets_were_watched(book, hooked) &&
			   !m->site[SITE_tx_splice].bytes), none ? 0 : book->slot.reshaped);
}

static void fill_completions(struct watch_movements *m, const struct watch_book *book,
			     const struct watch_hooked *hooked)
{
	const struct watch_slot *slot = &book->slot;
	bool rings = watch_rings_were_counted(book, hooked);
	uint64_t sends;
	bool numbered = watch_sends_by_number(book, &sends);
	bool known = rings && watch_completions_were_counted(book, hooked);

	/* The process may have read them before the hook looked, and then the next one tells no more of them. */
	m->unseen_completions = known && (slot->unseen_reports || slot->skipped_ids);
	watch_set_count(m, COUNT_zerocopy_sends, rings && numbered, sends + slot->ring_sends);
	watch_set_count(m, COUNT_completed_sends, known, slot->completed_sends + slot->ring_notified);
	watch_set_count(m, COUNT_copied_sends, known && !slot->ring_silent, slot->copied_sends + slot->ring_copied);
}

static void fill_sends(struct watch_movements *m, const struct watch_book *book,
		       const struct watch_hooked *hooked, const struct books *called)
{
	bool slot = !(book->flags & WATCH_NO_SLOT), known = hooked->sends && slot;
	const struct watch_reading *first = &book->opened, *last = watch_last_of(book);
	struct watch_plain from = watch_plain_of(first), to = watch_plain_of(last);
	bool packets = watch_packets_were_watched(book, hooked);
	bool asks = first->asks_zerocopy || last->asks_zerocopy;

	watch_set_count(m, COUNT_accepted_bytes, true, book->past_accepted + to.accepted - from.accepted);
	watch_set_site(m, SITE_tx_copy, known, sent_as(book, WATCH_KIND_COPY));
	watch_set_site(m, SITE_tx_reference, known, sent_as(book, WATCH_KIND_REFERENCE));
	watch_set_site(m, SITE_tx_splice, known, sent_as(book, WATCH_KIND_SPLICE));
	if (book->flags & WATCH_IN_KERNEL || book->owner.kernel)
		m->spliced_in_kernel = m->site[SITE_tx_splice].bytes;
	watch_set_count(m, COUNT_tapped_bytes, hooked->taps && slot && !hooked->skipped, called->count[COUNT_tapped_bytes]);
	fill_completions(m, book, hooked);
	fill_late_copy(m, book, hooked);
	m->fate = watch_fate_of(book, hooked, m);
	watch_set_count(m, COUNT_enobufs, hooked->limits ? slot : packets || !asks, refused_of(&book->slot));
	watch_set_count(m, COUNT_refused_optmem, hooked->limits && slot, book->slot.refused_optmem);
	watch_set_count(m, COUNT_refused_memlock, hooked->limits && slot, book->slot.refused_memlock);
	m->refused_at_rest = refused_at_rest(book, hooked);
	watch_set_count(m, COUNT_send_calls, hooked->calls, called->count[COUNT_send_calls]);
}

/* Where each call that passes bytes on tells of it, the rest is copied. */
static void fill_receives_by_calls(struct watch_movements *m, const struct watch_book *book,
				   const struct watch_hooked *hooked, const struct books *called, uint64_t returned)
{
	uint64_t passed = called->site[SITE_rx_splice].bytes + called->site[SITE_rx_map].bytes;
	uint64_t taken = passed + called->site[SITE_rx_discard].bytes + m->site[SITE_rx_direct].bytes;
	bool room = !(book->flags & WATCH_NO_SLOT);
	/* The kernel may look at bytes where they lie (tcp_read_sock), and copy none. */
	bool rest_is_copied = !(book->flags & WATCH_IN_KERNEL) || taken == returned;

	watch_set_site(m, SITE_rx_splice, room, called->site[SITE_rx_splice].bytes);
	watch_set_site(m, SITE_rx_map, room, called->site[SITE_rx_map].bytes);
	if (!hooked->rx_copies || book->slot.rx_odd) {
		m->copies_derived = 1;
		watch_set_site(m, SITE_rx_copy, m->sites_known >> SITE_rx_discard & 1 && taken <= returned &&
			 !watch_urgent_is_unknown(book, hooked) && rest_is_copied, returned - taken + m->count[COUNT_peeked_bytes]);
	}
	m->passed_bytes = passed;
	m->passed_unknown = !room;
}

/* Bytes that left the socket without a copy that a hook saw, and without a discard, were spliced or mapped; no
 * tracepoint tells which. An urgent byte that nobody read left, too, and what a sockmap redirects. */
static void fill_receives_by_rest(struct watch_movements *m, const struct watch_book *book,
				  const struct watch_hooked *hooked, const struct books *called, uint64_t returned)
{
	uint64_t taken = books_taken(called);
	bool seen = !(book->flags & WATCH_READS_UNSEEN), known;

	/* What the kernel takes for itself (tcp_read_sock) it may copy as no tracepoint tells (skb_copy_bits). */
	if (book->flags & WATCH_IN_KERNEL && taken != returned)
		m->sites_known &= ~(1u << SITE_rx_copy);
	known = m->sites_known >> SITE_rx_copy & 1 && m->sites_known >> SITE_rx_discard & 1 && seen && taken <= returned &&
		(taken == returned || (!watch_urgent_is_unknown(book, hooked) && hooked->no_sockmaps));
	/* What a sockmap takes from the queue moves the same sequence number as a receive. */
	if (!seen || (returned && !hooked->no_sockmaps && !(known && taken == returned)))
		m->counts_known &= ~(1ull << COUNT_returned_bytes);
	watch_set_site(m, SITE_rx_splice, known && taken == returned, 0);
	watch_set_site(m, SITE_rx_map, known && taken == returned, 0);
	m->passed_bytes = known ? returned - taken : 0;
	m->passed_unknown = !known;
}

static void fill_receives(struct watch_movements *m, const struct watch_book *book,
			  const struct watch_hooked *hooked, const struct books *called)
{
	struct watch_plain from = watch_plain_of(&book->opened), to = watch_plain_of(watch_last_of(book));
	uint64_t returned = book->past_returned + to.returned - from.returned - watch_urgent_left(book, hooked);
	bool room = !(book->flags & WATCH_NO_SLOT), whole = hooked->discards && room && !watch_reads_began_before(book);

	if (watch_tls_receives(book, hooked)) {
		const struct tls_book *tls = watch_tls_of(book, hooked);

		returned = book->past_returned + tls->received_before - from.returned + watch_tls_taken(tls);
	}
	watch_set_count(m, COUNT_returned_bytes, !hooked->urgent || !watch_urgent_is_unknown(book, hooked), returned);
	watch_set_count(m, COUNT_recv_calls, hooked->calls, called->count[COUNT_recv_calls]);
	watch_set_count(m, COUNT_map_calls, hooked->rx_calls && room, called->count[COUNT_map_calls]);
	watch_set_count(m, COUNT_peeked_bytes, whole, called->count[COUNT_peeked_bytes]);
	watch_set_site(m, SITE_rx_discard, whole, called->site[SITE_rx_discard].bytes);
	watch_set_site(m, SITE_rx_copy, hooked->rx_copies && hooked->discards && room && !book->slot.rx_odd,
		 called->site[SITE_rx_copy].bytes);
	if (hooked->rx_calls)
		fill_receives_by_calls(m, book, hooked, called, returned);
	else
		fill_receives_by_rest(m, book, hooked, called, returned);
}

/* Without trampolines nothing tells which of several sends asked: that all did, or none, their numbers tell. */
static void fill_declined(struct watch_movements *m, const struct watch_book *book, const struct watch_hooked *hooked)
{
	uint64_t asked = hooked->trampolines ? book->slot.asked_bytes : m->count[COUNT_accepted_bytes];
	bool none = m->counts_known >> COUNT_zerocopy_sends & 1 && !m->count[COUNT_zerocopy_sends];
	bool all = m->count[COUNT_zerocopy_sends] == book->slot.send_calls;

	if (none)
		return;
	if (m->sites_known >> SITE_tx_reference & 1 && (hooked->trampolines || all) &&
	    m->site[SITE_tx_reference].bytes <= asked)
		m->declined_bytes = asked - m->site[SITE_tx_reference].bytes;
	else
		m->declined_unknown = 1;
}

/* UDP: what calls returned is what moved, as nothing is sent again and no call but these moves bytes. What a queue
 * holds of a datagram that is not whole may lie in any pages. */
static void fill_datagrams_sent(struct watch_movements *m, const struct watch_book *book,
				const struct watch_hooked *hooked)
{
	const struct watch_slot *slot = &book->slot;
	uint64_t accepted = slot->sends_returned;
	bool asks = book->opened.asks_zerocopy || book->now.asks_zerocopy, t = hooked->trampolines;
	bool room = !(book->flags & WATCH_NO_SLOT), sent = hooked->datagrams && room && (t || !slot->pages_unwatched);
	bool left = slot->departures_noted && hooked->packets && !slot->mixed && !book->opened.unsent &&
		    !book->now.unsent;
	bool none = !asks && book->now.zerocopy_sends == book->opened.zerocopy_sends && hooked->no_rings;
	uint64_t referenced = t ? slot->sent_as[WATCH_KIND_REFERENCE] : left ? slot->sent_referenced : 0;
	uint64_t spliced = t ? slot->sent_as[WATCH_KIND_SPLICE] : left ? slot->spliced_queued : 0;
	bool references = sent && (t ? !(slot->pages_unwatched & WATCH_REFERENCES_UNSEEN) : left || none);
	bool splices = sent && (t ? hooked->sends : left);
	bool whole = referenced + spliced <= accepted;

	watch_set_count(m, COUNT_accepted_bytes, sent, accepted);
	watch_set_count(m, COUNT_send_calls, sent, slot->send_calls);
	watch_set_site(m, SITE_tx_reference, references && whole, referenced);
	watch_set_site(m, SITE_tx_splice, splices && whole, spliced);
	watch_set_site(m, SITE_tx_copy, references && splices && whole, accepted - referenced - spliced);
	watch_set_count(m, COUNT_tapped_bytes, hooked->taps && room && !hooked->skipped, slot->tapped);
	fill_completions(m, book, hooked);
	fill_late_copy(m, book, hooked);
	m->fate = watch_fate_of(book, hooked, m);
	fill_declined(m, book, hooked);
	for (enum watch_failure error = 0; error < WATCH_FAILURE_COUNT; error++)
		m->failed_sends[error] = slot->failed_sends[error];
	m->failed_bytes = slot->failed_bytes;
	watch_set_count(m, COUNT_enobufs, sent, refused_of(slot));
	watch_set_count(m, COUNT_refused_optmem, sent && !refused_of(slot), 0);
	watch_set_count(m, COUNT_refused_memlock, sent && !refused_of(slot), 0);
}

static void fill_datagrams_received(struct watch_movements *m, const struct watch_book *book,
				    const struct watch_hooked *hooked)
{
	const struct watch_slot *slot = &book->slot;
	bool room = hooked->datagrams && !(book->flags & WATCH_NO_SLOT), known = room && !slot->rx_odd;

	watch_set_count(m, COUNT_returned_bytes, hooked->trampolines ? room : known, slot->recvs_returned);
	watch_set_count(m, COUNT_recv_calls, room, slot->recv_calls);
	watch_set_count(m, COUNT_peeked_bytes, known, slot->rx_peeked);
	watch_set_count(m, COUNT_map_calls, true, 0);
	watch_set_count(m, COUNT_dropped_bytes, room && hooked->datagram_drops, slot->rx_dropped);
	watch_set_count(m, COUNT_truncated_bytes, known && hooked->trampolines, slot->rx_cut);
	watch_set_site(m, SITE_rx_copy, known, book->rx_copied);
	watch_set_site(m, SITE_rx_splice, true, 0);
	watch_set_site(m, SITE_rx_map, true, 0);
	watch_set_site(m, SITE_rx_discard, true, 0);
}

static struct watch_balance balance_of(const struct watch_reading *r, uint32_t next_id, bool walked,
				       bool completions)
{
	struct watch_plain p = watch_plain_of(r);
	struct watch_balance b = {
		.known = 1u << WATCH_unsent_bytes | 1u << WATCH_unacked_bytes | 1u << WATCH_unread_bytes,
		.item = { [WATCH_unsent_bytes] = p.unsent, [WATCH_unacked_bytes] = p.unacked,
			  [WATCH_unread_bytes] = p.unread,
			  [WATCH_referenced_bytes] = r->referenced_bytes,
			  [WATCH_referenced_pages] = r->referenced_pages,
			  [WATCH_spliced_bytes] = r->spliced_bytes,
			  [WATCH_zerocopy_sends] = (uint32_t)(r->zerocopy_sends - next_id) },
	};

	if (walked)
		b.known |= 1u << WATCH_referenced_bytes | 1u << WATCH_referenced_pages |
			   1u << WATCH_spliced_bytes;
	if (completions)
		b.known |= 1u << WATCH_zerocopy_sends;
	for (int item = 0; item < WATCH_BALANCE_COUNT; item++)
		if (!watch_is_plausible(b.item[item]))
			b.known &= ~(1u << item);
	return b;
}

static struct watch_address address_of(const unsigned int ip[4], uint16_t port)
{
	struct watch_address a = { .port = port };

	memcpy(a.ip, ip, sizeof(a.ip));
	return a;
}

enum { LOOPBACK_IFINDEX = 1 };

/* Addresses do not tell: one of this machine's may be translated to another host's (DNAT, IPVS). */
static bool is_on_loopback(const struct watch_book *book)
{
	return !(book->flags & WATCH_DATAGRAMS) && watch_last_of(book)->arrives_on == LOOPBACK_IFINDEX;
}

/* The first that it ever had. */
static enum watch_layer layer_of(const struct watch_book *book)
{
	for (enum watch_layer layer = 1; layer < WATCH_LAYER_COUNT; layer++)
		if (book->layers >> layer & 1)
			return layer;
	return WATCH_LAYER_NONE;
}

/* Bytes that pass a layer above TCP are copied there, or not. Of a repaired socket not even the sequence
 * numbers are those of bytes that moved. */
static void layer_hides(struct watch_socket *s)
{
	struct watch_movements seen = {};

	if (s->layer != WATCH_LAYER_REPAIR) {
		watch_set_count(&seen, COUNT_accepted_bytes, true, s->moved.count[COUNT_accepted_bytes]);
		watch_set_count(&seen, COUNT_returned_bytes, true, s->moved.count[COUNT_returned_bytes]);
	} else {
		s->opening = s->closing = (struct watch_balance){};
	}
	s->moved = seen;
}

/* What was accepted belongs to whoever is seen to hold or use it: who listens may have forked others that do. Nobody
 * holds sockets of TCP below MPTCP. */
static struct watch_process_id owner_of(const struct watch_book *book)
{
	bool listens = book->flags & WATCH_GUESSED && !(book->layers & 1u << WATCH_LAYER_MPTCP);

	return (struct watch_process_id){ .pid = book->owner.kernel || listens ? 0 : book->owner.tgid,
					  .listener = listens ? book->owner.tgid : 0,
					  .started_ns = book->owner.started_ns };
}

void watch_socket_fill(struct watch_socket *s, const struct watch_book *book,
		       const struct watch_hooked *hooked)
{
	bool walked = !(book->flags & (WATCH_WALK_SHORT | WATCH_TORN));
	/* The queues of a socket that died or was closed are gone, and so is what was in them. */
	bool closed = book->flags & WATCH_CLOSED;
	bool completions = watch_completions_were_counted(book, hooked);
	struct books called = {};

	*s = (struct watch_socket){
		.cookie = book->cookie,
		.owner = owner_of(book),
		.cgroup = book->owner.cgroup,
		.uid = book->owner.uid,
		.netns = book->netns,
		.local = address_of(book->local_ip, book->local_port),
		.remote = address_of(book->remote_ip, book->remote_port),
		.ipv6 = book->family == 10,
		.layer = layer_of(book),
		.mptcp_token = book->mptcp_token,
		.born = book->flags & WATCH_BORN,
		.died = book->flags & WATCH_DIED,
		.handed_on = book->flags & WATCH_HANDED_ON,
		.datagrams = book->flags & WATCH_DATAGRAMS,
		.on_loopback = is_on_loopback(book),
		.called_bytes = book->slot.sends_returned + book->slot.recvs_returned,
		.unsized_calls = book->slot.unsized_calls,
		.tls = book->slot.tls,
		.stacked_bytes = book->stacks.stacked,
		.unstacked_bytes = book->stacks.unstacked,
	};
	if (!s->datagrams)
		s->called_bytes += book->slot.rx_spliced + book->slot.rx_mapped;
	s->whole = s->born && s->died;
	memcpy(s->comm, book->owner.comm, sizeof(s->comm));
	s->opening = balance_of(&book->opened, book->opened.zerocopy_sends - watch_opened_sends(book), walked,
				completions);
	s->closing = balance_of(watch_last_of(book), book->slot.next_id, walked || closed, completions);
	watch_tls_fill(&s->moved, book, hooked);
	watch_detail_fill(&s->moved, book, hooked);
	if (s->datagrams) {
		fill_datagrams_sent(&s->moved, book, hooked);
		fill_datagrams_received(&s->moved, book, hooked);
	} else {
		books_of_slot(&called, &book->slot, book->rx_copied,
			      watch_tls_receives(book, hooked) ? watch_tls_of(book, hooked) : NULL);
		fill_sends(&s->moved, book, hooked, &called);
		fill_receives(&s->moved, book, hooked, &called);
		/* TCP sends again what is dropped, and cuts nothing off. */
		watch_set_count(&s->moved, COUNT_dropped_bytes, true, 0);
		watch_set_count(&s->moved, COUNT_truncated_bytes, true, 0);
	}
	watch_set_site(&s->moved, SITE_reshape, hooked->details && !(book->flags & WATCH_NO_SLOT), book->slot.moved_between);
	s->apart = s->layer && !(s->layer == WATCH_LAYER_KTLS && watch_tls_is_covered(book, hooked));
	if (s->apart)
		layer_hides(s);
	s->late = book->flags & WATCH_LATE;
	if (book->flags & WATCH_LIFE_LOST)
		s->moved = (struct watch_movements){ .implausible = 1 };
	if (book->flags & WATCH_UNOPENED) {
		s->unopened = true;
		s->opening = s->closing = (struct watch_balance){};
		s->moved = (struct watch_movements){};
	}
}
