/* SPDX-License-Identifier: GPL-2.0 */
/* The laws: equations between counts that different probes make. Pure. */
#ifndef COPYSCOPE_LAWS_H
#define COPYSCOPE_LAWS_H

#include "userspace/record/laws.h"
#include "userspace/record/record.h"

/*
 * Fills r->laws from ledger, sites and the workload's totals. A law shows the sum; it is broken if
 * it does not hold for the sum or for any one socket. There is no tolerance.
 */
void laws_fill(struct record *r);

/* How many of these are broken. */
int laws_broken(const struct law *list, int count);

#endif
