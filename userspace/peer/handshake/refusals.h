/* SPDX-License-Identifier: GPL-2.0 */
/* Prints who was refused, a few lines at once and then at most one a second; counts the rest. */
#ifndef COPYSCOPE_REFUSALS_H
#define COPYSCOPE_REFUSALS_H

#include <stdint.h>

struct refusals {
	int64_t full_ms;	/* when a whole burst of lines is allowed again */
	uint64_t untold;
};

void refusals_tell(struct refusals *r, int64_t now_ms, const char *name, const char *why);

/* Prints how many were only counted, if a line is allowed. Milliseconds until one is; -1: none
 * waits. */
int refusals_flush(struct refusals *r, int64_t now_ms);

#endif
