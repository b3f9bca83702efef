/* SPDX-License-Identifier: GPL-2.0 */
/* The laws: equations between counts that different probes make. Pure. */
#ifndef COPYSCOPE_LAWS_H
#define COPYSCOPE_LAWS_H

#include "userspace/record/record.h"

/*
 * Fills r->laws from ledger, sites and the workload's totals. A law shows the sum; it is broken if
 * it does not hold for the sum or for any one socket. There is no tolerance.
 */
void laws_fill(struct record *r);

/* A law that is not tested yet: its name and what both sides are. */
struct law law_named(const char *name);

/* True if laws_fill() tests it. */
bool law_is_of_runs(const char *name);

/* True if it is tested where sockets have kernel TLS, and in no other record. */
bool law_is_of_tls(const char *name);

/* All of them, those of a watch included. How many. */
int laws_list(struct law list[LAWS_MAX]);

/* How many of these are broken. */
int laws_broken(const struct law *list, int count);

#endif
