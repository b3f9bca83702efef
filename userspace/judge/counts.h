/* SPDX-License-Identifier: GPL-2.0 */
/* Which counts of a run are known. Pure. */
#ifndef COPYSCOPE_JUDGE_COUNTS_H
#define COPYSCOPE_JUDGE_COUNTS_H

#include "userspace/record/record.h"

/* Why a count of @r, whose sites are filled, is not known; NULL: it is. */
const char *count_lacks(const struct record *r, enum count count);

/* A bit for each that is known. */
uint64_t counts_known(const struct record *r);

#endif
