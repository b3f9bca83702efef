// SPDX-License-Identifier: GPL-2.0
/* Takes SYN and FIN out of sequence numbers, and tells how much of what left as pages was handed over so, copied
 * after all, or is not known. See bpf/include/watch.h for what each number is. */
#include "userspace/watch/books/books_fate.h"

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

bool watch_was_urgent(const struct watch_book *book)
{
	return book->opened.urgent_due || watch_last_of(book)->urgent_seq != book->opened.urgent_seq;
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

/* Sends that the kernel completed, those of them that it says were copied, and all that it had to complete. */
struct completions {
	uint64_t all, copied, due;
};

static struct completions completions_of(const struct watch_book *book)
{
	const struct watch_slot *slot = &book->slot;
	uint32_t sends = watch_last_of(book)->zerocopy_sends - book->opened.zerocopy_sends;

	return (struct completions){
		.all = slot->completed_sends + slot->ring_notified,
		.copied = slot->copied_sends + slot->ring_copied,
		.due = (uint64_t)watch_opened_sends(book) + sends + slot->ring_sends,
	};
}

static struct watch_sides not_testable(const char *why)
{
	return (struct watch_sides){ .why = why };
}

static struct watch_sides sides(uint64_t left, uint64_t right)
{
	return (struct watch_sides){ .known = true, .left = left, .right = right };
}

/* Something was copied that a completion tells of: by send itself, or before the window. */
static bool copied_elsewhere(const struct watch_book *book, const struct watch_movements *m)
{
	return m->site_bytes[SITE_tx_copy] || book->opened.referenced_bytes || book->slot.opened_sends;
}

/* What completions say is what notifications say that others joined: skb_zerocopy_notify_extend() leaves what they say. */
static bool told_by_others(const struct watch_book *book, struct completions c)
{
	return book->slot.added_sends && c.copied <= book->slot.added_sends;
}

/* skb_copy_ubufs() notes in the notification that it copied, and a notification may stand for many sends. What
 * the kernel moves in other ways it notes only if the packet has no page left. */
static struct watch_sides sides_of_completions(const struct watch_book *book, const struct watch_hooked *hooked,
					       const struct watch_movements *m)
{
	struct completions c = completions_of(book);
	bool done = c.all == c.due && !book->slot.unseen_reports && !book->slot.skipped_ids;
	uint64_t late = book->slot.late_copied, referenced = m->site_bytes[SITE_tx_reference];

	if (!c.copied != !late && told_by_others(book, c))
		return not_testable("the kernel put notifications into others, which do not say if these were copied");
	if (c.copied && !late && !book->slot.reshaped) {
		if (copied_elsewhere(book, m))
			return not_testable("send may have copied, or the bytes were sent before the window");
		if (hooked->late_copies && !hooked->moved)
			return not_testable("what the kernel moves behind the socket was not hooked");
		return sides(1, 0);
	}
	if (late && !done && c.copied < c.due)
		return not_testable("not all of its sends by reference are completed");
	if (late && !c.copied)
		return sides(0, 1);
	if (late && late >= referenced && !copied_elsewhere(book, m) && !watch_sent_again(book))
		return sides(c.copied, c.all);
	return sides(!!c.copied, !!c.copied);
}

struct watch_sides watch_copied_sides(const struct watch_book *book, const struct watch_hooked *hooked,
				      const struct watch_movements *m)
{
	if (!has(m, SITE_tx_reference))
		return not_testable("references were not counted");
	if (!completions_of(book).due && !m->site_bytes[SITE_tx_reference])
		return sides(0, 0);
	if (!watch_completions_were_counted(book, hooked) || !watch_rings_were_counted(book, hooked))
		return not_testable("notifications were not counted");
	if (book->slot.ring_silent)
		return not_testable("its io_uring was not asked to tell of copies");
	if (!watch_late_copies_are_known(book, hooked))
		return not_testable("late copies were not counted");
	return sides_of_completions(book, hooked, m);
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
	/* Without a reference there is nothing to copy late. */
	bool none = has(m, SITE_tx_reference) && !m->site_bytes[SITE_tx_reference] && !book->opened.referenced_bytes;

	return none || (watch_late_copies_are_known(book, &all) && !denied && watch_is_plausible(book->slot.late_copied));
}

/* Of user pages: what a device on a bus was handed as it was. What left more than once counts once at most. */
static uint64_t pages_uncopied(const struct watch_book *book, const struct watch_hooked *hooked,
			       const struct watch_movements *m)
{
	uint64_t clean = less(less(book->slot.clean, watch_sent_again(book)), book->opened.unsent_referenced_bytes);

	if (!hooked->devices || !watch_late_copies_were_seen(book, hooked, m) || book->slot.mixed)
		return 0;
	return least(clean, m->site_bytes[SITE_tx_reference]);
}

/* Of spliced pages: what a device on a bus or a receiver on this machine was handed as it was. Their packets may
 * hold copied bytes, too. Nobody copies them on arrival, so it is no matter here whether some arrival was not seen;
 * behind veth others may have handed them on. */
static uint64_t splices_uncopied(const struct watch_book *book, const struct watch_hooked *hooked,
				 const struct watch_movements *m)
{
	const struct watch_slot *slot = &book->slot;
	uint64_t spliced = m->site_bytes[SITE_tx_splice];
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
	return least(less(less(slot->spliced_handed, m->site_bytes[SITE_tx_copy]), watch_sent_again(book)), spliced);
}

uint64_t watch_spliced_by_calls(const struct watch_movements *m)
{
	return less(m->site_bytes[SITE_tx_splice], m->count[COUNT_tls_carried_bytes]);
}

/* Even if each packet that no program saw was one of theirs. */
static uint64_t uncopied_for_sure(const struct watch_book *book, const struct watch_hooked *hooked,
				  const struct watch_movements *m)
{
	return splices_uncopied(book, hooked, m) + (has(m, SITE_late_copy) ? pages_uncopied(book, hooked, m) : 0);
}

struct watch_fate watch_fate_of(const struct watch_book *book, const struct watch_hooked *hooked,
				const struct watch_movements *m)
{
	const struct watch_hooked all = but_for_unseen(hooked);
	uint64_t referenced = m->site_bytes[SITE_tx_reference], handed, later;
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
	fate.later = least(less(later, book->opened.referenced_bytes), handed);
	fate.uncopied = least(pages_uncopied(book, &all, m) + splices_uncopied(book, &all, m), handed - fate.later);
	fate.unsure = less(fate.uncopied, uncopied_for_sure(book, hooked, m));
	fate.unknown = handed - fate.later - fate.uncopied;
	if (!(book->flags & WATCH_CLOSED))
		fate.held = least(book->now.unsent_referenced_bytes, fate.unknown);
	return fate;
}
