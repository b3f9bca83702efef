/* SPDX-License-Identifier: GPL-2.0 */
/* A reading of a socket in bytes of payload: without SYN and FIN. */
#ifndef COPYSCOPE_BOOKS_PLAIN_H
#define COPYSCOPE_BOOKS_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/watch.h"

struct watch_plain {
	uint64_t accepted, sent, received, returned, unsent, unacked, unread;
};

struct watch_plain watch_plain_of(const struct watch_reading *r);

/* The reading that closes a book: at the move to CLOSE, else the newest one. */
const struct watch_reading *watch_last_of(const struct watch_book *book);

/* Of sockets that referenced pages while packets were watched: did the programs see each byte that TCP
 * sent leave once? TCP counts what it sends again, too. */
bool watch_departures_are_whole(const struct watch_book *book);

#endif
