/* SPDX-License-Identifier: GPL-2.0 */
/* What measured calls cost, and which of the numbers are to be believed. */
#ifndef COPYSCOPE_COST_H
#define COPYSCOPE_COST_H

#include <stdio.h>

#include "userspace/record/record.h"

/* Judges the sums in r->cost: fills in what is known, and why the rest is not. */
void costs_fill(struct record *r);

/* What to keep in mind about the times of this machine; empty for a real one. */
const char *costs_time_note(const struct record *r);

/* Prints the table of costs; nothing without --cost. */
void costs_print(const struct record *r, FILE *out);

#endif
