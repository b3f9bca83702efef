// SPDX-License-Identifier: GPL-2.0
/* Both sides of each law for one socket, or why the law cannot be tested for it. */
#include "userspace/judge/laws.h"
#include "userspace/watch/books/books_fate.h"
#include "userspace/watch/books/books_socket.h"
#include "userspace/watch/books/books_tls.h"

#define NO_ROOM "the table of sockets had no room for it"
#define COPIED_ODDLY \
	"bytes were copied that no receive returned: a receive failed halfway, or TCP_ZEROCOPY_RECEIVE copied"

/* A drop or a notification that no program saw explains any difference. */
static struct watch_sides unless_missed(const struct watch_book *book, const struct watch_hooked *hooked,
					struct watch_sides sides)
{
	if (sides.left == sides.right)
		return sides;
	if (book->flags & WATCH_NO_SLOT)
		return watch_not_known(NO_ROOM);
	return hooked->skipped ? watch_not_known("the kernel skipped a program for packets or notifications") : sides;
}

static struct watch_sides sides_of_send_queue(const struct watch_socket *s, const struct watch_book *book,
					const struct watch_hooked *hooked)
{
	struct watch_plain from = watch_plain_of(&book->opened), to = watch_plain_of(watch_last_of(book));

	if (book->flags & WATCH_TORN)
		return watch_not_known("it was read without its lock, in a network namespace that was not entered");
	if (book->slot.dropped_packets)
		return watch_not_known("this machine dropped packets on their way out, which are then sent as new");
	return unless_missed(book, hooked, (struct watch_sides){
		.known = true,
		.left = from.unsent + s->moved.count[COUNT_accepted_bytes],
		.right = book->past_sent + to.sent - from.sent + to.unsent,
	});
}

/* What kernel TLS decrypted is its receive queue; before that it was TCP's. */
static struct watch_sides sides_of_plaintext(uint64_t taken, const struct watch_book *book,
					     const struct watch_hooked *hooked)
{
	const struct tls_book *tls = watch_tls_of(book, hooked);
	struct watch_plain from = watch_plain_of(&book->opened);

	return (struct watch_sides){
		.known = true,
		.left = tls->first.decrypted + tls->opened + book->past_returned + tls->received_before - from.returned,
		.right = taken + tls->now.decrypted,
	};
}

static struct watch_sides sides_of_receive_queue(const struct watch_socket *s, const struct watch_book *book,
					   const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	struct watch_plain from = watch_plain_of(&book->opened), to = watch_plain_of(watch_last_of(book));
	/* A site that is not known has no bytes there. */
	const struct sides moved = law_sides(LAW_receive, &m->books);
	uint64_t taken = moved.right - m->count[COUNT_peeked_bytes];
	struct watch_sides sides = { .known = true };

	if (book->flags & WATCH_TORN)
		return watch_not_known("it was read without its lock, in a network namespace that was not entered");
	if (hooked->rx_calls && !hooked->rx_copies)
		return watch_not_known("rx_copy is derived from this law; --books calls measures it");
	if (book->flags & WATCH_READS_UNSEEN)
		return watch_not_known("it was reset with bytes unread, then connected anew: no tracepoint tells if they were spliced out");
	if (book->slot.rx_odd)
		return watch_not_known(COPIED_ODDLY);
	if (watch_reads_began_before(book))
		return watch_not_known("a receive may have been under way when the window opened, which had taken bytes before");
	if (!(m->sites_known & 1u << SITE_rx_copy) || !(m->sites_known & 1u << SITE_rx_discard))
		return watch_not_known("copies to readers or discards were not counted");
	if (moved.right < moved.left && !hooked->rx_calls)
		return watch_not_known("bytes left without a copy: how many is derived from this law");
	/* What earlier lives of the socket lost with their queues was never taken. */
	sides.left = from.unread + book->past_returned + to.received - from.received;
	sides.right = taken + watch_urgent_left(book, hooked) + to.unread;
	if (watch_tls_receives(book, hooked))
		sides = sides_of_plaintext(taken, book, hooked);
	if (sides.left != sides.right && watch_urgent_is_unknown(book, hooked))
		return watch_not_known("an urgent byte was read before its turn, or never");
	return sides;
}

/* Each packet left once. */
static bool is_undisturbed(const struct watch_book *book)
{
	return !watch_sent_again(book) && !book->slot.dropped_packets;
}

static struct watch_sides sides_of_reference_queue(const struct watch_socket *s, const struct watch_book *book,
					     const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	const struct watch_reading *last = watch_last_of(book);
	int64_t left = book->opened.unsent_referenced_bytes + m->site[SITE_tx_reference].bytes;
	int64_t right = book->slot.sent_referenced + last->unsent_referenced_bytes;
	struct watch_plain to = watch_plain_of(last);

	if (book->slot.mixed || book->flags & WATCH_MIXED)
		return watch_not_known("its packets mix user pages with pages of files, which may be either");
	if (watch_refers_to_nothing(book, m))
		return (struct watch_sides){ .known = true, .right = book->slot.sent_referenced };
	if (!(m->sites_known & 1u << SITE_tx_reference))
		return watch_not_known("references were not counted");
	if (!watch_packets_were_watched(book, hooked))
		return watch_not_known("packets were not watched when the first reference was made");
	if (book->flags & (WATCH_TORN | WATCH_WALK_SHORT))
		return watch_not_known("its queues could not be walked to their ends");
	if (!is_undisturbed(book))
		return watch_not_known("packets were dropped or sent again");
	if (book->flags & WATCH_UNSENT_LOST || (book->flags & WATCH_CLOSED && to.unsent))
		return watch_not_known("it closed before all was sent, and its queue is gone");
	/* The kernel may run no program on top of certain tasks, without a sign. */
	if (!watch_departures_are_whole(book))
		return watch_not_known("no program saw some packets leave, or they passed several devices");
	return (struct watch_sides){ .known = true, .left = left, .right = right };
}

/* Nothing but the socket's own queue can hold its pages: no packet was dropped or sent again, whose
 * copy may still be under way, and all that left was copied once, when it arrived on this machine. Nor does a
 * send sleep that has its notification and no packet yet, the process took no notification before it was seen,
 * and the socket was not closed: then the kernel drops them (__msg_zerocopy_callback). */
static bool queue_holds_all(const struct watch_socket *s, const struct watch_book *book,
			    const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	uint64_t left = 1ull << COUNT_wire_referenced_bytes;

	return m->counts_known & left && m->sites_known & 1u << SITE_late_copy && !hooked->skipped &&
	       !book->slot.mixed && !book->opened.referenced_bytes && !book->now.calls_sleep &&
	       !book->slot.unseen_reports && !book->now.orphaned &&
	       m->site[SITE_late_copy].bytes == book->slot.sent_referenced && is_undisturbed(book);
}

/* Zero-copy sends of which no notification came yet. By the queue, if that holds all: then a
 * notification that nobody counted is missed. */
static uint64_t outstanding(const struct watch_socket *s, const struct watch_book *book,
			    const struct watch_hooked *hooked)
{
	const struct watch_reading *now = &book->now;

	/* UDP keeps no packets, but each notification holds option memory until it is read. */
	if (book->flags & WATCH_DATAGRAMS && !now->option_bytes)
		return 0;
	if (book->flags & (WATCH_CLOSED | WATCH_TORN | WATCH_WALK_SHORT | WATCH_DATAGRAMS) ||
	    !queue_holds_all(s, book, hooked))
		return s->closing.item[WATCH_zerocopy_sends];
	return (uint32_t)(now->zerocopy_sends - now->first_id);
}

/* A packet holds a number that the socket has not given out: two sends took numbers at once, and the first one failed. */
static bool numbers_lag(const struct watch_reading *r)
{
	return r->numbered && (int32_t)(r->first_id - r->zerocopy_sends) >= 0;
}

/* Two sends of a socket may be under way at once; one that fails gives back the number that was taken last, which may be
 * the other's (msg_zerocopy_put_abort). NULL: numbers tell how many were made. */
static const char *why_numbers_differ(const struct watch_book *book)
{
	if (book->opened.calls_sleep)
		return "a send may have been under way when the window opened, and have failed since";
	if (numbers_lag(&book->opened) || numbers_lag(&book->now))
		return "a send that failed gave back the number of another that was under way";
	return NULL;
}

static struct watch_sides sides_of_completion(const struct watch_socket *s, const struct watch_book *book,
					      const struct watch_hooked *hooked)
{
	struct sides moved = law_sides(LAW_completion, &s->moved.books);
	struct watch_sides sides = { .known = true };
	const char *why;
	uint64_t sends;

	if (!hooked->completions)
		return watch_not_known("notifications were not counted");
	if (book->flags & WATCH_NO_SLOT)
		return watch_not_known(NO_ROOM);
	if (book->slot.skipped_ids && (book->slot.unseen_reports || !is_undisturbed(book)))
		return watch_not_known("notifications came that were not seen: the process read them first, or "
				 "they overtook others whose packets were lost");
	/* One datagram waits where another processor takes in packets, and those behind it were taken in elsewhere. */
	if (book->slot.skipped_ids && book->flags & WATCH_DATAGRAMS && book->now.option_bytes)
		return watch_not_known("notifications overtook others, which were still to come");
	if (!watch_rings_were_counted(book, hooked))
		return watch_not_known("io_uring's notifications were not all counted: hooks came late, or its ring was full");
	if (book->slot.ring_notified < book->slot.ring_sends)
		return watch_not_known("io_uring may still have to notify");
	if (!watch_sends_by_number(book, &sends))
		return watch_not_known("a send that was under way when the window opened has failed since");
	sides.left = s->opening.item[WATCH_zerocopy_sends] + moved.left;
	sides.right = moved.right + outstanding(s, book, hooked);
	why = sides.left != sides.right ? why_numbers_differ(book) : NULL;
	if (why)
		return watch_not_known(why);
	return unless_missed(book, hooked, sides);
}

static struct watch_sides sides_of_copied(const struct watch_socket *s, const struct watch_book *book,
					  const struct watch_hooked *hooked)
{
	struct watch_sides sides = watch_copied_sides(book, hooked, &s->moved);

	if (!hooked->late_copies && sides.known && sides.left != sides.right)
		return watch_not_known("completions say otherwise than arrivals: late_copy is not measured");
	return sides;
}

/* A call that was under way when the window opened or closed counts on one side alone. */
static struct watch_sides sides_of_calls(const struct watch_socket *s, const struct watch_book *book,
					 const struct watch_hooked *hooked, uint64_t by_sequence,
					 uint64_t by_calls)
{
	if (!hooked->calls)
		return watch_not_known("calls are counted with --books calls alone");
	if (book->flags & WATCH_NO_SLOT)
		return watch_not_known(NO_ROOM);
	if (!s->whole && by_sequence != by_calls)
		return watch_not_known("a call may have been under way when the window opened or closed");
	return (struct watch_sides){ .known = true, .left = by_sequence, .right = by_calls };
}

/* Of TCP_ZEROCOPY_RECEIVE, which returns by no receive, of a call that failed halfway or of one under way. */
static bool copies_are_unsettled(const struct watch_book *book)
{
	uint64_t settled = book->slot.rx_settled;

	return book->slot.rx_odd || book->rx_copied != (settled == WATCH_UNSETTLED ? 0 : settled);
}

/* Why what calls returned may differ from what left by sequence numbers, and no count is wrong; NULL: it may not. */
static const char *why_receives_differ(const struct watch_movements *m, const struct watch_book *book,
				       const struct watch_hooked *hooked)
{
	if (watch_urgent_is_unknown(book, hooked))
		return "an urgent byte was read before its turn, or never";
	if (!(m->counts_known >> COUNT_returned_bytes & 1))
		return "a sockmap may have taken bytes that no receive returned";
	if (m->site[SITE_rx_map].bytes)
		return "TCP_ZEROCOPY_RECEIVE may have copied what no receive returned";
	return NULL;
}

/* What left as pages is returned by no receive. By tracepoints it is the rest of what left, so that the law then holds
 * copies and discards against calls. */
static struct watch_sides sides_of_receives(const struct watch_socket *s, const struct watch_book *book,
					    const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	uint64_t returned = m->count[COUNT_returned_bytes], by_calls = book->slot.recvs_returned;
	const char *why = why_receives_differ(m, book, hooked);
	struct watch_sides sides;

	if (watch_tls_receives(book, hooked)) {
		if (hooked->calls && m->passed_bytes)
			return watch_not_known("bytes left by splice or mapped, which no receive returns");
		return sides_of_calls(s, book, hooked, returned, by_calls + watch_tls_of(book, hooked)->returned);
	}
	if (hooked->calls && copies_are_unsettled(book))
		return watch_not_known(COPIED_ODDLY);
	sides = sides_of_calls(s, book, hooked, returned, by_calls + m->passed_bytes);
	/* A count that is not known is 0, which may be what the other side is. */
	if (sides.known && why && (sides.left != sides.right || !(m->counts_known >> COUNT_returned_bytes & 1)))
		return watch_not_known(why);
	return sides;
}

/* Datagrams. Each passes a place once or never. */

static struct watch_sides sides_of_datagrams_sent(const struct watch_book *book, const struct watch_hooked *hooked)
{
	const struct watch_slot *slot = &book->slot;
	struct watch_sides sides = {
		.known = true,
		.left = book->opened.unsent + slot->sends_returned,
		.right = slot->handed_over + book->now.unsent,
	};

	if (!hooked->handed)
		return watch_not_known("no hook of this backend tells what IP was given of datagrams");
	if (sides.left == sides.right)
		return sides;
	if (slot->send_failed)
		return watch_not_known("a send of datagrams failed, and what it was given may have left all the same");
	if (!(book->flags & WATCH_BORN) || !(book->flags & WATCH_DIED))
		return watch_not_known("a send of datagrams may have been under way when the window opened or closed");
	return sides;
}

static struct watch_sides sides_of_datagrams_received(const struct watch_book *book,
						      const struct watch_hooked *hooked)
{
	const struct watch_slot *slot = &book->slot;
	struct watch_sides sides = {
		.known = true,
		.left = book->opened.unread + slot->rx_queued,
		.right = book->rx_copied - slot->rx_peeked + slot->rx_cut + book->now.unread,
	};

	if (!hooked->queued)
		return watch_not_known("no hook of this backend tells what was queued of datagrams");
	if (sides.left == sides.right)
		return sides;
	if (slot->rx_odd)
		return watch_not_known("a receive of datagrams failed halfway");
	if (book->opened.restless || book->now.restless)
		return watch_not_known("datagrams came or went while the queue was read, or a receive was under way");
	if (book->now.drops - book->opened.drops != slot->rx_refused)
		return watch_not_known("the kernel dropped datagrams elsewhere than before their queue");
	return sides;
}

static struct watch_sides sides_of_datagram_references(const struct watch_socket *s, const struct watch_book *book,
						       const struct watch_hooked *hooked)
{
	const struct watch_movements *m = &s->moved;
	struct watch_sides sides = {
		.known = true,
		.left = m->site[SITE_tx_reference].bytes,
		.right = book->slot.sent_referenced,
	};

	if (!(m->sites_known & 1u << SITE_tx_reference))
		return watch_not_known("references were not counted");
	if (!hooked->trampolines)
		return sides.left ? watch_not_known("true by construction: packets tell what was referenced") : sides;
	if (sides.left && !watch_packets_were_watched(book, hooked))
		return watch_not_known("packets were not watched when the first reference was made");
	if (sides.left && !watch_departures_are_whole(book))
		return watch_not_known("packets were not watched when the first reference was made");
	if (sides.left == sides.right)
		return sides;
	if (book->slot.mixed)
		return watch_not_known("its packets mix user pages with pages of files, which may be either");
	if (sides.right > sides.left)
		return watch_not_known("packets passed several devices, or were referenced before the window");
	if (book->slot.dropped_packets || book->slot.send_failed || book->now.unsent || book->opened.unsent)
		return watch_not_known("packets were dropped, or wait for more bytes");
	return sides;
}

static struct watch_sides sides_of_datagram_calls(const struct watch_book *book, const struct watch_hooked *hooked,
						  enum watch_law law)
{
	if (law == WATCH_LAW_sends || !hooked->trampolines)
		return watch_not_known("true by construction: of datagrams that is accepted or received which calls return");
	if (book->slot.rx_odd)
		return watch_not_known("a receive of datagrams failed halfway");
	if (book->rx_copied - book->slot.rx_peeked != book->slot.recvs_returned &&
	    (book->opened.restless || book->now.restless))
		return watch_not_known("a receive of datagrams was under way");
	return (struct watch_sides){ .known = true, .left = book->rx_copied - book->slot.rx_peeked,
				     .right = book->slot.recvs_returned };
}

static struct watch_sides sides_of_datagrams(enum watch_law law, const struct watch_socket *s,
					     const struct watch_book *book, const struct watch_hooked *hooked)
{
	if (law == WATCH_LAW_probes)
		return (struct watch_sides){ .known = true };
	if (book->flags & WATCH_NO_SLOT)
		return watch_not_known(NO_ROOM);
	switch (law) {
	case WATCH_LAW_send_queue:
		return sides_of_datagrams_sent(book, hooked);
	case WATCH_LAW_receive_queue:
		return sides_of_datagrams_received(book, hooked);
	case WATCH_LAW_reference_queue:
		return sides_of_datagram_references(s, book, hooked);
	default:
		return sides_of_datagram_calls(book, hooked, law);
	}
}

static const char *const why_layer[] = {
#define LAYER_WHY(symbol, key, name) \
	[WATCH_LAYER_##symbol] = "its bytes pass " name ", which these laws do not cover",
	WATCH_LAYERS(LAYER_WHY)
#undef LAYER_WHY
};

/* Those that TCP alone has. */
static struct watch_sides sides_of_stream(enum watch_law law, const struct watch_socket *s,
					  const struct watch_book *book, const struct watch_hooked *hooked)
{
	switch (law) {
	case WATCH_LAW_send_queue:
		return sides_of_send_queue(s, book, hooked);
	case WATCH_LAW_receive_queue:
		return sides_of_receive_queue(s, book, hooked);
	case WATCH_LAW_reference_queue:
		return sides_of_reference_queue(s, book, hooked);
	case WATCH_LAW_sends:
		return sides_of_calls(s, book, hooked, s->moved.count[COUNT_accepted_bytes],
				      book->slot.sends_returned);
	case WATCH_LAW_receives:
		return sides_of_receives(s, book, hooked);
	default:
		return (struct watch_sides){ .known = true };
	}
}

/* Is the law of sequence numbers that were read in a state where they mean something else? Any other sum that is
 * implausible is one of counts, and what is wrong with those a law must tell. */
static bool is_of_implausible(enum watch_law law, const struct watch_movements *m)
{
	enum count count = law == WATCH_LAW_send_queue || law == WATCH_LAW_sends	 ? COUNT_accepted_bytes :
			   law == WATCH_LAW_receive_queue || law == WATCH_LAW_receives ? COUNT_returned_bytes :
											 COUNT_COUNT;

	return m->implausible && count != COUNT_COUNT && !(m->counts_known >> count & 1);
}

struct watch_sides watch_law_sides(enum watch_law law, const struct watch_socket *s,
				   const struct watch_book *book, const struct watch_hooked *hooked)
{
	if (s->apart && law != WATCH_LAW_probes)
		return watch_not_known(why_layer[s->layer]);
	if (book->flags & WATCH_UNOPENED)
		return watch_not_known(book->flags & WATCH_LATE ? "its hooks were attached after it was made" :
				       "it lay in a network namespace that was not entered");
	if (book->flags & WATCH_LIFE_LOST)
		return watch_not_known("no program saw that it closed, or that it connected anew");
	if (is_of_implausible(law, &s->moved))
		return watch_not_known("a sum of it was more than any socket can move, or less than nothing");
	switch (law) {
	case WATCH_LAW_completion:
		return sides_of_completion(s, book, hooked);
	case WATCH_LAW_copied:
		return sides_of_copied(s, book, hooked);
	case WATCH_LAW_tls_send:
	case WATCH_LAW_tls_encryption:
	case WATCH_LAW_tls_sent:
	case WATCH_LAW_tls_received:
		return watch_tls_sides(law, s, book, hooked);
	default:
		return s->datagrams ? sides_of_datagrams(law, s, book, hooked) :
				      sides_of_stream(law, s, book, hooked);
	}
}
