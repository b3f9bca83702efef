// SPDX-License-Identifier: GPL-2.0
/* Takes SYN and FIN out of sequence numbers, and tells how much of what left as pages was handed over so, copied
 * after all, or is not known. See bpf/include/watch.h for what each number is. */
#include "userspace/watch/books/books_fate.h"

#include "userspace/judge/copied.h"

enum { STATE_SYN_SENT = 2, STATE_SYN_RECV = 3, STATE_FIN_WAIT1 = 4, STATE_LAST_ACK = 9, STATE_CLOSING = 11 };

static bool fin_is_on_its_way(const struct watch_reading *r)
{
	return r->state == STATE_FIN_WAIT1 || r->state == STATE_LAST_ACK || r->state == STATE_CLOSING;
}

struct watch_plain watch_plain_of(const struct watch_reading *r)
{
	struct watch_plain p = {
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

const struct watch_reading *watch_last_of(const struct watch_book *book)
{
	return book->flags & WATCH_CLOSED ? &book->closed : &book->now;
}

uint64_t watch_sent_again(const struct watch_book *book)
{
	return book->past_retransmitted + watch_last_of(book)->retransmitted - book->opened.retransmitted;
}

/* What kernel TLS takes from TCP ends before an urgent byte. */
static bool urgent_is_counted(const struct watch_book *book, const struct watch_hooked *hooked)
{
	bool unread_unlocked = book->flags & WATCH_TORN && book->urgent.due;

	return hooked->urgent && !book->urgent.unsure && !unread_unlocked && !book->slot.tls;
}

bool watch_urgent_is_unknown(const struct watch_book *book, const struct watch_hooked *hooked)
{
	bool came = book->opened.urgent_due || watch_last_of(book)->urgent_seq != book->opened.urgent_seq;

	return came && !urgent_is_counted(book, hooked);
}

int64_t watch_urgent_left(const struct watch_book *book, const struct watch_hooked *hooked)
{
	return urgent_is_counted(book, hooked) ? (int64_t)book->urgent.skipped - book->urgent.read : 0;
}

bool watch_reads_began_before(const struct watch_book *book)
{
	return book->opened.calls_sleep && (book->slot.rx_discarded || book->slot.rx_peeked);
}

bool watch_sends_by_number(const struct watch_book *book, uint64_t *sends)
{
	int32_t numbers = watch_last_of(book)->zerocopy_sends - book->opened.zerocopy_sends;

	*sends = numbers < 0 ? 0 : numbers;
	return numbers >= 0;
}

bool watch_packets_were_watched(const struct watch_book *book, const struct watch_hooked *hooked)
{
	return hooked->packets && !book->slot.pages_unwatched && !(book->flags & WATCH_NO_SLOT);
}

bool watch_completions_were_counted(const struct watch_book *book, const struct watch_hooked *hooked)
{
	return hooked->completions && !(book->flags & WATCH_NO_SLOT);
}

bool watch_departures_are_whole(const struct watch_book *book)
{
	const struct watch_slot *slot = &book->slot;

	/* UDP keeps no sum of what it sent. */
	if (slot->datagrams)
		return slot->departures_noted;
	return slot->departures_noted && watch_last_of(book)->sent - slot->departed_from == slot->departed;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Not below 0. */
static uint64_t less(uint64_t from, uint64_t what)
{
	return from - least(from, what);
}

static bool has(const struct watch_movements *m, enum site site)
{
	return m->sites_known >> site & 1;
}

bool watch_late_copies_are_known(const struct watch_book *book, const struct watch_hooked *hooked)
{
	const uint8_t unsure = WATCH_PATH_OTHER | WATCH_PATH_ONWARD | WATCH_PATH_TAPPED;

	if (book->flags & WATCH_NO_SLOT || hooked->skipped)
		return false;
	return hooked->late_copies || (watch_packets_were_watched(book, hooked) && hooked->devices &&
				       !(book->slot.paths & unsure));
}

bool watch_rings_were_counted(const struct watch_book *book, const struct watch_hooked *hooked)
{
	return !book->slot.ring_used || (hooked->rings && !book->slot.pages_unwatched);
}

uint32_t watch_opened_sends(const struct watch_book *book)
{
	uint32_t made = book->opened.zerocopy_sends;

	return book->slot.opened_sends < made ? book->slot.opened_sends : made;
}

static struct watch_sides sides(uint64_t left, uint64_t right)
{
	return (struct watch_sides){ .known = true, .left = left, .right = right };
}

/* As long as a packet that is sent again finds no route, which only hooks of details see. */
static bool may_have_lost_scatter_gather(const struct watch_book *book, const struct watch_hooked *hooked)
{
	return book->slot.unscattered_sends || (!hooked->details && watch_sent_again(book));
}

static struct told_copies told_copies_of(const struct watch_book *book, const struct watch_hooked *hooked,
					 const struct watch_movements *m)
{
	const struct watch_slot *slot = &book->slot;
	uint64_t sends;
	struct told_copies t = {
		.completed = slot->completed_sends + slot->ring_notified,
		.copied = slot->copied_sends + slot->ring_copied,
		.copied_by_ring = slot->ring_copied,
		.joined = slot->added_sends,
		.late_bytes = slot->late_copied,
		.moved_bytes = slot->reshaped,
		.referenced_bytes = m->site[SITE_tx_reference].bytes,
		.left_bytes = slot->sent_referenced,
		.elsewhere = m->site[SITE_tx_copy].bytes || book->opened.referenced_bytes || slot->opened_sends ||
			     may_have_lost_scatter_gather(book, hooked),
		.beside = m->site[SITE_tx_splice].bytes || book->opened.unsent,
		.sent_again = watch_sent_again(book),
		.by_arrivals = !hooked->late_copies,
		.moves_unseen = hooked->late_copies && !hooked->moved,
	};

	watch_sends_by_number(book, &sends);
	t.due = watch_opened_sends(book) + sends + slot->ring_sends;
	t.ended = t.completed == t.due && !slot->unseen_reports && !slot->skipped_ids;
	return t;
}

struct watch_sides watch_copied_sides(const struct watch_book *book, const struct watch_hooked *hooked,
				      const struct watch_movements *m)
{
	struct told_copies told = told_copies_of(book, hooked, m);
	struct sides s;
	const char *why;

	if (!has(m, SITE_tx_reference))
		return watch_not_known("references were not counted");
	if (!told.due && !told.referenced_bytes)
		return sides(0, 0);
	if (!watch_completions_were_counted(book, hooked) || !watch_rings_were_counted(book, hooked))
		return watch_not_known("notifications were not counted");
	if (book->slot.ring_silent)
		return watch_not_known("its io_uring was not asked to tell of copies");
	if (!watch_late_copies_are_known(book, hooked))
		return watch_not_known("late copies were not counted");
	why = copied_sides(&told, &s);
	return why ? watch_not_known(why) : sides(s.left, s.right);
}

bool watch_refers_to_nothing(const struct watch_book *book, const struct watch_movements *m)
{
	return has(m, SITE_tx_reference) && !m->site[SITE_tx_reference].bytes && !book->opened.referenced_bytes;
}

static struct watch_hooked but_for_unseen(const struct watch_hooked *hooked)
{
	struct watch_hooked all = *hooked;

	all.skipped = false;
	return all;
}

bool watch_late_copies_were_seen(const struct watch_book *book, const struct watch_hooked *hooked,
				 const struct watch_movements *m)
{
	const struct watch_hooked all = but_for_unseen(hooked);
	struct watch_sides sides = watch_copied_sides(book, &all, m);
	/* Where arrivals stand for copies, the kernel's completions know better. */
	bool denied = !hooked->late_copies && sides.known && sides.left != sides.right;

	return watch_refers_to_nothing(book, m) || (watch_late_copies_are_known(book, &all) && !denied && watch_is_plausible(book->slot.late_copied));
}

/* Of user pages: what a device on a bus was handed as it was. What left more than once counts once at most. */
static uint64_t pages_uncopied(const struct watch_book *book, const struct watch_hooked *hooked,
			       const struct watch_movements *m)
{
	uint64_t clean = less(less(book->slot.clean, watch_sent_again(book)), book->opened.unsent_referenced_bytes);

	if (!hooked->devices || !watch_late_copies_were_seen(book, hooked, m) || book->slot.mixed)
		return 0;
	return least(clean, m->site[SITE_tx_reference].bytes);
}

/* Of spliced pages: what a device on a bus or a receiver on this machine was handed as it was. Their packets may
 * hold copied bytes, too. Nobody copies them on arrival, so it is no matter here whether some arrival was not seen;
 * behind veth others may have handed them on. */
static uint64_t splices_uncopied(const struct watch_book *book, const struct watch_hooked *hooked,
				 const struct watch_movements *m)
{
	const struct watch_slot *slot = &book->slot;
	uint64_t spliced = m->site[SITE_tx_splice].bytes;
	bool known_behind = !(slot->paths & WATCH_PATH_VIRTUAL) ||
			    (!hooked->skipped && hooked->no_onward && (hooked->no_orphans || !hooked->moved));
	/* Only a trampoline sees what the kernel copies for an XDP program, of packets that loopback took off their socket. */
	bool copied_unseen = slot->paths & WATCH_PATH_XDP &&
			     (hooked->skipped || !hooked->moved || !hooked->no_orphans);

	if (!hooked->devices || slot->paths & WATCH_PATH_OTHER || copied_unseen || !known_behind)
		return 0;
	/* Each packet that left with such pages had them at the device. */
	if (slot->departures_noted && !slot->pages_unwatched && !watch_sent_again(book) &&
	    slot->spliced_queued == slot->spliced_handed && watch_departures_are_whole(book))
		return less(spliced, watch_last_of(book)->unsent);
	/* What each of several devices was handed is in one sum. */
	if (slot->paths & WATCH_PATH_STACKED)
		return 0;
	return least(less(less(slot->spliced_handed, m->site[SITE_tx_copy].bytes), watch_sent_again(book)), spliced);
}

uint64_t watch_spliced_by_calls(const struct watch_movements *m)
{
	return less(m->site[SITE_tx_splice].bytes, m->count[COUNT_tls_carried_bytes]);
}

/* Even if each packet that no program saw was one of theirs. */
static uint64_t uncopied_for_sure(const struct watch_book *book, const struct watch_hooked *hooked,
				  const struct watch_movements *m)
{
	return splices_uncopied(book, hooked, m) + (has(m, SITE_late_copy) ? pages_uncopied(book, hooked, m) : 0);
}

/* At most so much was copied after it was handed over: by what left, where nothing else of the socket leaves. A copy for a
 * clone and one on arrival are two of the same bytes. */
static uint64_t most_copied_later(const struct watch_book *book, const struct watch_movements *m, uint64_t handed)
{
	bool left_is_known = m->counts_known >> COUNT_wire_referenced_bytes & 1;

	if (!left_is_known || m->site[SITE_tx_splice].bytes || book->opened.referenced_bytes)
		return handed;
	return least(m->count[COUNT_wire_referenced_bytes], handed);
}

struct watch_fate watch_fate_of(const struct watch_book *book, const struct watch_hooked *hooked,
				const struct watch_movements *m)
{
	const struct watch_hooked all = but_for_unseen(hooked);
	uint64_t referenced = m->site[SITE_tx_reference].bytes, handed, later;
	struct watch_fate fate = {};

	if (!has(m, SITE_tx_reference) || !has(m, SITE_tx_splice))
		return fate;
	handed = referenced + watch_spliced_by_calls(m);
	later = book->slot.reshaped + (watch_late_copies_were_seen(book, hooked, m) ? book->slot.late_copied : 0);
	/* Packets do not show which of their pages are records of kernel TLS. */
	if (m->count[COUNT_tls_carried_bytes]) {
		fate.unknown = handed;
		return fate;
	}
	/* The kernel may have copied what was sent before the window. */
	fate.later = least(less(later, book->opened.referenced_bytes), most_copied_later(book, m, handed));
	fate.uncopied = least(pages_uncopied(book, &all, m) + splices_uncopied(book, &all, m), handed - fate.later);
	fate.unsure = less(fate.uncopied, uncopied_for_sure(book, hooked, m));
	fate.unknown = handed - fate.later - fate.uncopied;
	if (!(book->flags & WATCH_CLOSED))
		fate.held = least(book->now.unsent_referenced_bytes, fate.unknown);
	if (book->slot.pages_unwatched || !hooked->packets)
		/* A device was seen to take the others, which may have been copied behind it. */
		fate.unwatched = less(fate.unknown - fate.held, splices_uncopied(book, &all, m) ? 0 : book->slot.spliced_handed);
	return fate;
}
