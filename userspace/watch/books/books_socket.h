/* SPDX-License-Identifier: GPL-2.0 */
/* Turns the raw book of a socket into balances and movements. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_SOCKET_H
#define COPYSCOPE_WATCH_BOOKS_SOCKET_H

#include "bpf/include/watch.h"
#include "userspace/watch/record/watch_record.h"

/* Which hooks counted while the socket was watched. */
struct watch_hooked {
	bool sends;		/* each change of the kind of sends */
	bool rx_copies;
	bool rx_calls;		/* calls that splice or map what was received */
	bool discards;
	bool completions;
	bool drops;
	bool calls;		/* what sends and receives returned */
	bool packets;		/* departures of zero-copy sends; without trampolines arrivals and refusals */
	bool late_copies;	/* late copies where they are made, from the beginning */
	bool taps;		/* what captures on the way out were shown */
	bool limits;		/* refusals by the limit that refused */
	bool skipped;		/* the kernel skipped a program for packets or notifications */
};

/* Everything of @socket but .lately and its laws. */
void watch_socket_fill(struct watch_socket *socket, const struct watch_book *book,
		       const struct watch_hooked *hooked);

/* What the laws of one socket compare; a side is known if all its terms are. */
struct watch_sides {
	bool known;
	int64_t left, right;
	const char *why;	/* why it is not known */
};

struct watch_sides watch_law_sides(enum watch_law law, const struct watch_socket *socket,
				   const struct watch_book *book, const struct watch_hooked *hooked);

#endif
