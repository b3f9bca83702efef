// SPDX-License-Identifier: GPL-2.0
/* Takes SYN and FIN out of sequence numbers; says if packets were seen. See bpf/include/watch.h for what each number is. */
#include "userspace/watch/books/books_plain.h"

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
	return watch_last_of(book)->retransmitted - book->opened.retransmitted;
}

bool watch_was_urgent(const struct watch_book *book)
{
	return watch_last_of(book)->urgent_seq != book->opened.urgent_seq;
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

	return slot->departures_noted && watch_last_of(book)->sent - slot->departed_from == slot->departed;
}
