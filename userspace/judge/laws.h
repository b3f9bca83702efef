/* SPDX-License-Identifier: GPL-2.0 */
/* The laws: equations between counts that different probes make. Pure. */
#ifndef COPYSCOPE_LAWS_H
#define COPYSCOPE_LAWS_H

#include "userspace/judge/sides.h"
#include "userspace/record/laws.h"

/*
 * Fills r->laws from ledger, sites and the workload's totals. A law shows the sum; it is broken if
 * it does not hold for the sum or for any one socket. There is no tolerance.
 */
void laws_fill(struct record *r);

/* Both sides of its equation, of what moved in the window. */
struct sides law_sides(enum law_id id, const struct books *b);

/* How many of these are broken. */
int laws_broken(const struct law *list, int count);

#endif
