// SPDX-License-Identifier: GPL-2.0
/*
 * From sequence numbers to bytes: takes SYN and FIN out, and says what stays when the window ends.
 *
 * ../shared/docs names no field twice: see bpf/include/watch.h for what each number is.
 */
#include "userspace/watch/books/books_socket.h"

#include <string.h>

enum { STATE_SYN_SENT = 2, STATE_SYN_RECV = 3, STATE_FIN_WAIT1 = 4, STATE_LAST_ACK = 9, STATE_CLOSING = 11 };

/* The same numbers without SYN and FIN. */
struct plain {
	uint64_t accepted, sent, received, returned, unsent, unacked, unread;
};

static bool fin_is_on_its_way(const struct watch_reading *r)
{
	return r->state == STATE_FIN_WAIT1 || r->state == STATE_LAST_ACK || r->state == STATE_CLOSING;
}

static struct plain plain_of(const struct watch_reading *r)
{
	struct plain p = {
		.accepted = r->accepted - r->fin_queued,
		.sent = r->sent - r->retransmitted,
		.received = r->received - r->fin_received,
		/* The FIN is the last of what is unsent or unread. */
		.unsent = r->unsent - (r->fin_queued && r->unsent),
		.unread = r->unread - (r->fin_received && r->unread),
		.unacked = r->unacked,
	};

	if (r->state == STATE_SYN_SENT || r->state == STATE_SYN_RECV)
		p.unacked -= p.unacked > 0;
	else if (r->fin_queued && !r->unsent && fin_is_on_its_way(r))
		p.unacked -= p.unacked > 0;
	p.returned = p.received - p.unread;
	return p;
}

static const struct watch_reading *last_of(const struct watch_book *book)
{
	return book->flags & WATCH_CLOSED ? &book->closed : &book->now;
}

static void set_site(struct watch_movements *m, enum site site, bool known, uint64_t bytes)
{
	if (!known)
		return;
	m->sites_known |= 1u << site;
	m->site_bytes[site] = bytes;
}

static void set_count(struct watch_movements *m, enum count count, bool known, uint64_t value)
{
	if (!known)
		return;
	m->counts_known |= 1ull << count;
	m->count[count] = value;
}

static uint64_t sent_as(const struct watch_book *book, enum watch_kind kind)
{
	const struct watch_reading *last = last_of(book);
	uint64_t bytes = book->slot.sent_as[kind];

	/* The move to CLOSE closed the last stretch. */
	if (book->slot.kind == kind && !(book->flags & WATCH_CLOSED))
		bytes += last->accepted - last->fin_queued - book->slot.since;
	return bytes;
}

/* The hook without trampolines, or those of the two limits. */
static uint64_t refused_of(const struct watch_slot *slot)
{
	return slot->enobufs + slot->refused_optmem + slot->refused_memlock;
}

static void fill_sends(struct watch_movements *m, const struct watch_book *book,
		       const struct watch_hooked *hooked)
{
	bool slot = !(book->flags & WATCH_NO_SLOT), known = hooked->sends && slot;
	const struct watch_reading *first = &book->opened, *last = last_of(book);
	struct plain from = plain_of(first), to = plain_of(last);
	bool packets = hooked->packets && !book->slot.referenced_unwatched && slot, none;
	bool late = hooked->late_copies ? slot : packets;
	bool asks = first->asks_zerocopy || last->asks_zerocopy;

	set_count(m, COUNT_accepted_bytes, true, book->past_accepted + to.accepted - from.accepted);
	set_site(m, SITE_tx_copy, known, sent_as(book, WATCH_KIND_COPY));
	set_site(m, SITE_tx_reference, known, sent_as(book, WATCH_KIND_REFERENCE));
	set_site(m, SITE_tx_splice, known, sent_as(book, WATCH_KIND_SPLICE));
	/* Without a reference there is nothing to copy late. */
	none = known && !sent_as(book, WATCH_KIND_REFERENCE) && !book->opened.referenced_bytes;
	set_site(m, SITE_late_copy, (late && !hooked->skipped) || none, book->slot.late_copied);
	set_count(m, COUNT_zerocopy_sends, true, (uint32_t)(last->zerocopy_sends - first->zerocopy_sends));
	set_count(m, COUNT_completed_sends, hooked->completions, book->completed_sends);
	set_count(m, COUNT_copied_sends, hooked->completions, book->copied_sends);
	set_count(m, COUNT_tapped_bytes, hooked->taps && slot && !hooked->skipped, book->slot.tapped);
	m->late_by_tap_bytes = m->count[COUNT_tapped_bytes] < m->site_bytes[SITE_late_copy]
				       ? m->count[COUNT_tapped_bytes]
				       : m->site_bytes[SITE_late_copy];
	set_count(m, COUNT_enobufs, hooked->limits ? slot : packets || !asks, refused_of(&book->slot));
	set_count(m, COUNT_refused_optmem, hooked->limits && slot, book->slot.refused_optmem);
	set_count(m, COUNT_refused_memlock, hooked->limits && slot, book->slot.refused_memlock);
	set_count(m, COUNT_send_calls, hooked->calls, book->slot.send_calls);
	set_count(m, COUNT_wire_referenced_bytes, (packets && !hooked->skipped) || none, book->slot.sent_referenced);
}

/* Bytes that left the socket without a copy that the hook saw, and without a discard, were spliced or
 * mapped; which of the two, no tracepoint tells. With trampolines each call does, and where no
 * tracepoint tells of discards (before 6.3) the rest are these. */
static void fill_receives(struct watch_movements *m, const struct watch_book *book,
			  const struct watch_hooked *hooked)
{
	struct plain from = plain_of(&book->opened), to = plain_of(last_of(book));
	uint64_t returned = book->past_returned + to.returned - from.returned;
	bool slot = !(book->flags & WATCH_NO_SLOT);
	bool known = hooked->rx_copies && slot;
	uint64_t copied = book->slot.rx_copied, discarded = book->slot.rx_discarded;
	bool rest_known = known && hooked->discards && copied + discarded <= returned;

	set_count(m, COUNT_returned_bytes, true, returned);
	set_count(m, COUNT_recv_calls, hooked->calls, book->slot.recv_calls);
	set_site(m, SITE_rx_copy, known, copied);
	if (hooked->rx_calls) {
		uint64_t taken = copied + book->slot.rx_spliced + book->slot.rx_mapped;

		if (!hooked->rx_copies && hooked->discards && slot && taken + discarded <= returned)
			set_site(m, SITE_rx_copy, true, returned - taken - discarded + book->slot.rx_peeked);
		set_site(m, SITE_rx_splice, slot, book->slot.rx_spliced);
		set_site(m, SITE_rx_map, slot, book->slot.rx_mapped);
		if (!hooked->discards) {
			set_site(m, SITE_rx_discard, known && taken <= returned, returned - taken);
			return;
		}
	}
	set_site(m, SITE_rx_discard, hooked->discards && slot, discarded);
	if (hooked->rx_calls)
		return;
	set_site(m, SITE_rx_splice, rest_known, returned - copied - discarded);
	set_site(m, SITE_rx_map, rest_known && copied + discarded == returned, 0);
}

static struct watch_balance balance_of(const struct watch_reading *r, uint32_t next_id, bool walked,
				       bool completions)
{
	struct plain p = plain_of(r);
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
	return b;
}

static struct watch_address address_of(const unsigned int ip[4], uint16_t port)
{
	struct watch_address a = { .port = port };

	memcpy(a.ip, ip, sizeof(a.ip));
	return a;
}

void watch_socket_fill(struct watch_socket *s, const struct watch_book *book,
		       const struct watch_hooked *hooked)
{
	bool walked = !(book->flags & (WATCH_WALK_SHORT | WATCH_TORN));
	/* The queues of a socket that died or was closed are gone, and so is what was in them. */
	bool closed = book->flags & WATCH_CLOSED;

	*s = (struct watch_socket){
		.cookie = book->cookie,
		.owner = { book->owner.kernel ? 0 : book->owner.tgid, book->owner.started_ns },
		.cgroup = book->owner.cgroup,
		.netns = book->netns,
		.local = address_of(book->local_ip, book->local_port),
		.remote = address_of(book->remote_ip, book->remote_port),
		.ipv6 = book->family == 10,
		.born = book->flags & WATCH_BORN,
		.died = book->flags & WATCH_DIED,
		.handed_on = book->flags & WATCH_HANDED_ON,
	};
	s->whole = s->born && s->died;
	memcpy(s->comm, book->owner.comm, sizeof(s->comm));
	s->opening = balance_of(&book->opened, book->opened.zerocopy_sends - book->opened_sends, walked,
				hooked->completions);
	s->closing = balance_of(last_of(book), book->next_id, walked || closed, hooked->completions);
	fill_sends(&s->moved, book, hooked);
	fill_receives(&s->moved, book, hooked);
}

static struct watch_sides not_known(const char *why)
{
	return (struct watch_sides){ .why = why };
}

/* A drop, a departure or a notification that no program saw explains any difference. */
static struct watch_sides unless_skipped(const struct watch_hooked *hooked, struct watch_sides sides)
{
	return hooked->skipped && sides.left != sides.right ?
	       not_known("the kernel skipped a program for packets or notifications") : sides;
}

static struct watch_sides sides_of_send(const struct watch_socket *s, const struct watch_book *book,
					const struct watch_hooked *hooked)
{
	struct plain from = plain_of(&book->opened), to = plain_of(last_of(book));

	if (book->flags & WATCH_TORN)
		return not_known("it was read without its lock, in a network namespace that was not entered");
	if (book->slot.dropped_packets)
		return not_known("this machine dropped packets on their way out, which are then sent as new");
	return unless_skipped(hooked, (struct watch_sides){
		.known = true,
		.left = from.unsent + s->moved.count[COUNT_accepted_bytes],
		.right = book->past_sent + to.sent - from.sent + to.unsent,
	});
}

static struct watch_sides sides_of_receive(const struct watch_socket *s, const struct watch_book *book,
					   const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	struct plain from = plain_of(&book->opened), to = plain_of(last_of(book));
	uint64_t taken = m->site_bytes[SITE_rx_copy] + m->site_bytes[SITE_rx_discard];

	if (hooked->rx_calls)
		taken += m->site_bytes[SITE_rx_splice] + m->site_bytes[SITE_rx_map];
	if (book->flags & WATCH_TORN)
		return not_known("it was read without its lock, in a network namespace that was not entered");
	if (hooked->rx_calls && !hooked->rx_copies)
		return not_known("rx_copy is derived from this law; --books calls measures it");
	if (!(m->sites_known & 1u << SITE_rx_copy) || !(m->sites_known & 1u << SITE_rx_discard))
		return not_known("copies to readers or discards were not counted");
	if (taken > m->count[COUNT_returned_bytes])
		return not_known("bytes were read with MSG_PEEK, which copies and does not take them");
	if (taken < m->count[COUNT_returned_bytes] && !hooked->rx_calls)
		return not_known("bytes left without a copy: rx_splice is derived from this law");
	if (m->site_bytes[SITE_rx_discard] && !hooked->discards)
		return not_known("bytes left without a copy: rx_discard is derived from this law");
	return (struct watch_sides){
		.known = true,
		.left = from.unread + book->past_received + to.received - from.received,
		.right = taken + to.unread,
	};
}

/* Each packet left once. */
static bool is_undisturbed(const struct watch_book *book)
{
	return last_of(book)->retransmitted == book->opened.retransmitted && !book->slot.dropped_packets;
}

static struct watch_sides sides_of_reference(const struct watch_socket *s, const struct watch_book *book,
					     const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	const struct watch_reading *last = last_of(book);
	int64_t left = book->opened.unsent_referenced_bytes + m->site_bytes[SITE_tx_reference];
	int64_t right = book->slot.sent_referenced + last->unsent_referenced_bytes;
	struct plain to = plain_of(last);
	bool none = m->sites_known & 1u << SITE_tx_reference && !m->site_bytes[SITE_tx_reference] &&
		    !book->opened.referenced_bytes;

	if (none)
		return (struct watch_sides){ .known = true, .right = book->slot.sent_referenced };
	if (!(m->sites_known & 1u << SITE_tx_reference))
		return not_known("references were not counted");
	if (!(m->counts_known & 1ull << COUNT_wire_referenced_bytes))
		return not_known("packets were not watched when the first reference was made");
	if (book->flags & (WATCH_TORN | WATCH_WALK_SHORT))
		return not_known("its queues could not be walked to their ends");
	if (book->slot.mixed || book->flags & WATCH_MIXED)
		return not_known("its packets mix user pages with pages of files, which may be either");
	if (!is_undisturbed(book))
		return not_known("packets were dropped or sent again");
	if (book->flags & WATCH_CLOSED && to.unsent)
		return not_known("it closed before all was sent, and its queue is gone");
	/* The kernel may run no program on top of certain tasks, without a sign. */
	if (left > right && m->sites_known & 1u << SITE_late_copy &&
	    m->site_bytes[SITE_late_copy] > book->slot.sent_referenced)
		return not_known("packets arrived whose departure no program saw");
	return unless_skipped(hooked, (struct watch_sides){ .known = true, .left = left, .right = right });
}

/* Nothing but the socket's own queue can hold its pages: no packet was dropped or sent again, whose
 * copy may still be under way, and all that left was copied when it arrived on this machine. Nor does a
 * send sleep that has its notification and no packet yet, and the process took no notification before it
 * was seen. */
static bool queue_holds_all(const struct watch_socket *s, const struct watch_book *book,
			    const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	uint64_t left = 1ull << COUNT_wire_referenced_bytes;

	return m->counts_known & left && m->sites_known & 1u << SITE_late_copy && !hooked->skipped &&
	       !book->slot.mixed && !book->opened.referenced_bytes && !book->now.calls_sleep &&
	       !book->unseen_reports &&
	       m->site_bytes[SITE_late_copy] >= book->slot.sent_referenced && is_undisturbed(book);
}

/* Zero-copy sends of which no notification came yet. By the queue, if that holds all: then a
 * notification that nobody counted is missed. */
static uint64_t outstanding(const struct watch_socket *s, const struct watch_book *book,
			    const struct watch_hooked *hooked)
{
	const struct watch_reading *now = &book->now;

	if (book->flags & (WATCH_CLOSED | WATCH_TORN | WATCH_WALK_SHORT) || !queue_holds_all(s, book, hooked))
		return s->closing.item[WATCH_zerocopy_sends];
	return (uint32_t)(now->zerocopy_sends - now->first_id);
}

static struct watch_sides sides_of_completion(const struct watch_socket *s, const struct watch_book *book,
					      const struct watch_hooked *hooked)
{
	if (!hooked->completions)
		return not_known("notifications were not counted");
	if (book->skipped_ids && (book->unseen_reports || !is_undisturbed(book)))
		return not_known("notifications came that were not seen: the process read them first, or "
				 "they overtook others whose packets were lost");
	return unless_skipped(hooked, (struct watch_sides){
		.known = true,
		.left = s->opening.item[WATCH_zerocopy_sends] + s->moved.count[COUNT_zerocopy_sends],
		.right = s->moved.count[COUNT_completed_sends] + outstanding(s, book, hooked),
	});
}

/* A call that was under way when the window opened or closed counts on one side alone. */
static struct watch_sides sides_of_calls(const struct watch_socket *s, const struct watch_book *book,
					 const struct watch_hooked *hooked, uint64_t by_sequence,
					 uint64_t by_calls)
{
	if (!hooked->calls || book->flags & WATCH_NO_SLOT)
		return not_known("calls are counted with --books calls alone");
	if (!s->whole && by_sequence != by_calls)
		return not_known("a call may have been under way when the window opened or closed");
	return (struct watch_sides){ .known = true, .left = by_sequence, .right = by_calls };
}

static struct watch_sides sides_of_receives(const struct watch_socket *s, const struct watch_book *book,
					    const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;

	if (hooked->calls && m->site_bytes[SITE_rx_splice] + m->site_bytes[SITE_rx_map])
		return not_known("bytes left by splice or mapped, which no receive returns");
	return sides_of_calls(s, book, hooked, m->count[COUNT_returned_bytes], book->slot.recvs_returned);
}

struct watch_sides watch_law_sides(enum watch_law law, const struct watch_socket *s,
				   const struct watch_book *book, const struct watch_hooked *hooked)
{
	switch (law) {
	case WATCH_LAW_send:
		return sides_of_send(s, book, hooked);
	case WATCH_LAW_receive:
		return sides_of_receive(s, book, hooked);
	case WATCH_LAW_reference:
		return sides_of_reference(s, book, hooked);
	case WATCH_LAW_completion:
		return sides_of_completion(s, book, hooked);
	case WATCH_LAW_sends:
		return sides_of_calls(s, book, hooked, s->moved.count[COUNT_accepted_bytes],
				      book->slot.sends_returned);
	case WATCH_LAW_receives:
		return sides_of_receives(s, book, hooked);
	default:
		return (struct watch_sides){ .known = true };
	}
}
