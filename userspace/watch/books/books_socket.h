/* SPDX-License-Identifier: GPL-2.0 */
/* Turns the raw book of a socket into balances and movements. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_SOCKET_H
#define COPYSCOPE_WATCH_BOOKS_SOCKET_H

#include "userspace/record/watch_record.h"
#include "userspace/watch/books/books_fate.h"

/* Everything of @socket but .lately and its laws. */
void watch_socket_fill(struct watch_socket *socket, const struct watch_book *book,
		       const struct watch_hooked *hooked);

struct watch_sides watch_law_sides(enum watch_law law, const struct watch_socket *socket,
				   const struct watch_book *book, const struct watch_hooked *hooked);

#endif
