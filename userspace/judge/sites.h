/* SPDX-License-Identifier: GPL-2.0 */
/* Turns the ledger into sites and pins: each number with how it is known. Pure. */
#ifndef COPYSCOPE_SITES_VALUES_H
#define COPYSCOPE_SITES_VALUES_H

#include "userspace/record/record.h"

/*
 * Fills r->derived: the contents of r->ledger, and by a stated rule what a backend does not count
 * directly, in the total and in each socket's book. Call it before the others. 0 or -ENOMEM.
 */
int ledger_derive(struct record *r);

/* Sums the books of sockets that were derived already, on another host; false if a sum is beyond an int64_t. */
bool ledger_add_up(struct ledger *derived);

/* The site by which the receiver takes bytes as pages; SITE_COUNT: it takes none so. */
enum site site_of_pages(const struct record *r);

/* Fills r->sites and r->pins. */
void sites_fill(struct record *r);

#endif
