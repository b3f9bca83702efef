/* SPDX-License-Identifier: GPL-2.0 */
/* What kernel TLS did with the bytes of a socket: its sites and counts, both sides of its laws. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_BOOKS_TLS_H
#define COPYSCOPE_WATCH_BOOKS_BOOKS_TLS_H

#include "userspace/watch/books/books_fate.h"

/* Everything that a socket with kernel TLS moved is counted: it is encrypted by software, and no key was set
 * before the programs were there. */
bool watch_tls_is_covered(const struct watch_book *book, const struct watch_hooked *hooked);

/* The book of a socket that has keys, of one or of both directions; NULL of any other. */
const struct tls_book *watch_tls_of(const struct watch_book *book, const struct watch_hooked *hooked);

/* Kernel TLS takes what the socket receives, or did. */
bool watch_tls_receives(const struct watch_book *book, const struct watch_hooked *hooked);

/* Plaintext that calls took from TLS: by what was decrypted, as calls may be under way. */
uint64_t watch_tls_taken(const struct tls_book *tls);

/* The sites of TLS but for those of receives in general, and its counts. 0 of a socket without TLS. */
void watch_tls_fill(struct watch_movements *m, const struct watch_book *book, const struct watch_hooked *hooked);

/* Of the laws that are of TLS; nothing on either side without TLS. */
struct watch_sides watch_tls_sides(enum watch_law law, const struct watch_socket *s, const struct watch_book *book,
				   const struct watch_hooked *hooked);

#endif
