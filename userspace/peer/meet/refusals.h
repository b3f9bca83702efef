/* SPDX-License-Identifier: GPL-2.0 */
/* Tells who was refused, a few lines at once and then one a second at most; the rest are counted. */
#ifndef COPYSCOPE_REFUSALS_H
#define COPYSCOPE_REFUSALS_H

#include <stdint.h>

struct refusals {
	int64_t full_ms;	/* when all lines of a burst may be told again */
	uint64_t untold;
};

void refusals_tell(struct refusals *r, int64_t now_ms, const char *name, const char *why);

/* Tells how many were only counted, if a line is due. Milliseconds until one is; -1: none waits. */
int refusals_flush(struct refusals *r, int64_t now_ms);

#endif
