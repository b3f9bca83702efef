/* SPDX-License-Identifier: GPL-2.0 */
/* What became of bytes that left as pages, and whether the kernel's completions agree. Pure. */
#ifndef COPYSCOPE_BOOKS_FATE_H
#define COPYSCOPE_BOOKS_FATE_H

#include "userspace/watch/books/books_plain.h"
#include "userspace/watch/record/watch_record.h"

/* Were the copies of all bytes that it referenced counted, as late_copy or because they met nothing but devices
 * where arrivals tell of them? */
bool watch_late_copies_are_known(const struct watch_book *book, const struct watch_hooked *hooked);

/* The notifications of io_uring's sends by reference were counted, or there were none. */
bool watch_rings_were_counted(const struct watch_book *book, const struct watch_hooked *hooked);

/* What completions say of copies, against the copies that were counted: both sides of a law, or why it cannot be
 * tested. */
struct watch_sides watch_copied_sides(const struct watch_book *book, const struct watch_hooked *hooked,
				      const struct watch_movements *m);

/* @m has its sites. All 0 if tx_reference or tx_splice is not known. */
struct watch_fate watch_fate_of(const struct watch_book *book, const struct watch_hooked *hooked,
				const struct watch_movements *m);

#endif
