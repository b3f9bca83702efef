/* SPDX-License-Identifier: GPL-2.0 */
/* Tells whether twice the turns of a loop take twice the time. */
#ifndef COPYSCOPE_BASELINE_SLOPE_H
#define COPYSCOPE_BASELINE_SLOPE_H

#include <stdint.h>

/*
 * CPU time of twice the turns over that of once: about 2, unless they overlap or were left out.
 * @own is what @turn works on.
 */
double slope_of(void (*turn)(void *own, uint64_t turns), void *own);

#endif
