// SPDX-License-Identifier: GPL-2.0
/* Plaintext and records of a socket with kernel TLS: what each book has, and whether they agree. */
#include "userspace/watch/books/books_tls.h"

#include <stddef.h>

#include "userspace/judge/laws.h"

bool watch_tls_is_covered(const struct watch_book *book, const struct watch_hooked *hooked)
{
	if (!hooked->tls)
		return false;
	return book->slot.tls ? hooked->tls_book && !hooked->tls_book->device : !(book->flags & WATCH_NO_SLOT);
}

const struct tls_book *watch_tls_of(const struct watch_book *book, const struct watch_hooked *hooked)
{
	const struct tls_book *tls = book->slot.tls && hooked->tls ? hooked->tls_book : NULL;

	return tls && (tls->sends || tls->receives) ? tls : NULL;
}

bool watch_tls_receives(const struct watch_book *book, const struct watch_hooked *hooked)
{
	const struct tls_book *tls = watch_tls_of(book, hooked);

	return tls && tls->receives;
}

uint64_t watch_tls_taken(const struct tls_book *tls)
{
	return tls->first.decrypted + tls->opened - tls->now.decrypted;
}

/* By what was encrypted: calls may be under way. */
static uint64_t plaintext_sent(const struct tls_book *tls)
{
	return tls->encrypted + tls->now.open - tls->first.open;
}

/* Without the FIN. */
static uint64_t accepted_of(const struct watch_book *book)
{
	const struct watch_reading *last = watch_last_of(book);

	return last->accepted - last->fin_queued;
}

void watch_tls_fill(struct watch_movements *m, const struct watch_book *book, const struct watch_hooked *hooked)
{
	static const struct tls_book none;
	const struct tls_book *tls = watch_tls_of(book, hooked) ?: &none;
	struct books b = {};

	books_of_tls(&b, tls);
	b.count[COUNT_tls_carried_bytes] = tls->sends ? accepted_of(book) - tls->sent_before : 0;
	b.count[COUNT_tls_accepted_bytes] = plaintext_sent(tls);
	b.site[SITE_tls_splice].bytes = b.count[COUNT_tls_accepted_bytes] - b.site[SITE_tls_copy].bytes -
					b.site[SITE_tls_reference].bytes;
	for (enum site s = 0; s < SITE_COUNT; s++)
		if (site_has(s, SITE_OF_TLS))
			watch_set_site(m, s, true, b.site[s].bytes);
	for (enum count c = COUNT_tls_accepted_bytes; c < COUNT_COUNT; c++)
		watch_set_count(m, c, true, b.count[c]);
}

/* What moved, by the law's equation. TCP carried what was noted when the last push of a record ended; a socket that is
 * closed by both ends does not show its FIN any more, and accepts nothing behind it. */
static struct sides moved_of(enum watch_law law, const struct tls_book *tls, const struct watch_book *book)
{
	uint64_t most = accepted_of(book), accepted = tls->now.accepted < most ? tls->now.accepted : most;
	struct books b = {};

	books_of_tls(&b, tls);
	b.count[COUNT_tls_carried_bytes] = accepted - tls->sent_before;
	return law_sides(law_of_watch(law), &b);
}

/* The kernel keeps no number of what a call that sleeps, or has given the lock back, has done so far. */
static struct watch_sides unless_under_way(const struct watch_socket *s, int64_t left, int64_t right)
{
	if (left != right && !s->whole)
		return watch_not_known("a call may have been under way when the window opened or closed");
	return (struct watch_sides){ .known = true, .left = left, .right = right };
}

/* Records wait for TCP. */
static struct watch_sides sides_of_records_sent(struct sides moved, const struct tls_book *tls, const struct watch_book *book)
{
	struct watch_sides sides = {
		.known = true,
		.left = moved.left + tls->now.queued,
		.right = tls->first.queued + moved.right,
	};

	if (sides.left != sides.right && (book->opened.calls_sleep || (!tls->sends_ended && book->now.calls_sleep)))
		return watch_not_known("a call slept in the middle of a record, of which the kernel keeps no number then");
	return sides;
}

/* Why no closing balance is there; NULL if one is. */
static const char *no_balance(const struct tls_book *tls, const struct watch_book *book)
{
	bool died = book->flags & WATCH_DIED;

	if (tls->walk_short)
		return "more lay in kernel TLS than was read";
	if (died && ((tls->sends && !tls->sends_ended) || (tls->receives && !tls->receives_ended)))
		return "no program saw kernel TLS give up the socket";
	return book->flags & WATCH_TORN ?
		       "it was read without its lock, in a network namespace that was not entered" : NULL;
}

struct watch_sides watch_tls_sides(enum watch_law law, const struct watch_socket *s, const struct watch_book *book,
				   const struct watch_hooked *hooked)
{
	const struct tls_book *tls = watch_tls_of(book, hooked);
	const char *why = tls ? no_balance(tls, book) : NULL;
	struct sides moved;

	if (why)
		return watch_not_known(why);
	if (!tls || !(law == WATCH_LAW_tls_received ? tls->receives : tls->sends))
		return (struct watch_sides){ .known = true };
	moved = moved_of(law, tls, book);
	switch (law) {
	case WATCH_LAW_tls_send:
		return unless_under_way(s, moved.left, moved.right);
	case WATCH_LAW_tls_encryption:
		return unless_under_way(s, tls->first.open + moved.left, moved.right + tls->now.open);
	case WATCH_LAW_tls_sent:
		return sides_of_records_sent(moved, tls, book);
	default:
		/* TCP's own numbers are the left side. */
		return (struct watch_sides){
			.known = true,
			.left = tls->first.collected + tls->now.returned - tls->received_before,
			.right = moved.right + tls->now.collected,
		};
	}
}
