/* SPDX-License-Identifier: GPL-2.0 */
/* The cost of measured calls, and which of its numbers are known. */
#ifndef COPYSCOPE_COST_H
#define COPYSCOPE_COST_H

#include "userspace/record/record.h"

/* Fills in which sums of r->cost are known, and why the rest is not. */
void costs_fill(struct record *r);

/* A warning about the times of this machine; empty for a real one. */
const char *costs_time_note(const struct record *r);

#endif
