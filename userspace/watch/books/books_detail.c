// SPDX-License-Identifier: GPL-2.0
/* What the hooks of --detail count of a socket, as far as nothing else says that they missed some of it. */
#include "userspace/watch/books/books_detail.h"

#include "userspace/record/ledger.h"

/* A call that was under way when the window opened has told before what it asked for. */
static bool calls_are_whole(const struct watch_book *book, const struct watch_hooked *hooked)
{
	return hooked->calls && (book->flags & WATCH_BORN || !book->opened.calls_sleep);
}

/* By what TCP says that it sent, and sent again, or by what calls gave UDP: each packet left once, by one device. */
static bool departures_are_whole(const unsigned long long *n, const struct watch_book *book)
{
	const struct watch_reading *first = &book->opened, *last = watch_last_of(book);
	uint64_t left = n[COUNT_wire_copied_bytes] + n[COUNT_wire_referenced_bytes];
	uint64_t again = n[COUNT_retrans_copied_bytes] + n[COUNT_retrans_referenced_bytes];

	if (book->flags & WATCH_DATAGRAMS)
		return left == book->slot.sends_returned && !again;
	return left == last->sent - first->sent && again == last->retransmitted - first->retransmitted;
}

static void fill(struct watch_movements *m, const unsigned long long *n, bool known, const enum count *counts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watch_set_count(m, counts[i], known, n[counts[i]]);
}

#define FILL(m, n, known, ...) \
	fill(m, n, known, (const enum count[]){ __VA_ARGS__ }, sizeof((const enum count[]){ __VA_ARGS__ }) / sizeof(enum count))

void watch_detail_fill(struct watch_movements *m, const struct watch_book *book, const struct watch_hooked *hooked)
{
	static const unsigned long long nothing[COUNT_COUNT];
	const unsigned long long *n = hooked->detail ? hooked->detail->count : nothing;
	bool datagrams = book->flags & WATCH_DATAGRAMS;
	/* Of datagrams what they asked for is declined bytes, unless none did. */
	bool calls = hooked->detail && (!datagrams ? calls_are_whole(book, hooked) :
						     hooked->trampolines && hooked->datagrams && !book->slot.asked_bytes);
	bool packets = hooked->detail && hooked->wire && !hooked->skipped;
	bool wire = packets && departures_are_whole(n, book);
	bool pins = packets && hooked->pins && watch_rings_were_counted(book, hooked);

	FILL(m, n, calls, COUNT_zerocopy_asked_sends, COUNT_zerocopy_bytes, COUNT_unset_sends, COUNT_unset_bytes,
	     COUNT_nosg_sends, COUNT_nosg_bytes);
	FILL(m, n, calls && hooked->fast_open, COUNT_fastopen_sends, COUNT_fastopen_bytes);
	FILL(m, n, wire, COUNT_wire_copied_bytes, COUNT_wire_referenced_pages, COUNT_retrans_copied_bytes,
	     COUNT_retrans_referenced_bytes, COUNT_retrans_referenced_pages);
	watch_set_count(m, COUNT_mixed_bytes, wire && calls, books_mixed_bytes(n));
	FILL(m, n, packets, COUNT_dropped_referenced_bytes);
	FILL(m, n, pins, COUNT_pinned_pages, COUNT_released_pages);
	if (!hooked->trampolines)
		watch_set_count(m, COUNT_pinned_pages, wire, books_pages_left(n));
	watch_set_count(m, COUNT_user_referenced_bytes, hooked->detail && hooked->rx_copies && !hooked->trampolines,
			n[COUNT_user_referenced_bytes]);
}
