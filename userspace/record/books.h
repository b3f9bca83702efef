/* SPDX-License-Identifier: GPL-2.0 */
/* Sums of what sites and counts hold. */
#ifndef COPYSCOPE_BOOKS_H
#define COPYSCOPE_BOOKS_H

#include <stdbool.h>

#include "bpf/include/sites.h"

/* Each adds what an int64 holds, and returns false if a sum would exceed it. */
bool count_add(unsigned long long *into, unsigned long long more);
bool tally_add(struct tally *into, const struct tally *more);
bool books_add(struct books *into, const struct books *more);

#endif
