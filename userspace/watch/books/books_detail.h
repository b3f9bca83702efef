/* SPDX-License-Identifier: GPL-2.0 */
/* What --detail counts of a socket beside its book. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_BOOKS_DETAIL_H
#define COPYSCOPE_WATCH_BOOKS_BOOKS_DETAIL_H

#include "userspace/watch/books/books_fate.h"

/* The counts that no hook without --detail has: not known without a .detail of the socket. */
void watch_detail_fill(struct watch_movements *m, const struct watch_book *book, const struct watch_hooked *hooked);

#endif
