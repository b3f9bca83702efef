/* SPDX-License-Identifier: GPL-2.0 */
/* The region of a pass that is timed, or counted, and its time in the row's unit. */
#ifndef COPYSCOPE_BASELINE_REGION_H
#define COPYSCOPE_BASELINE_REGION_H

#include "studies/baseline/bench/family.h"

/* The clock and, in a counting pass, the counters run between these two. */
void region_begin(struct work *w);
void region_end(struct work *w);

/* The clock alone, for what is timed in pieces within the region. */
uint64_t region_tick(void);

/* Sets w->value to the region's time per call, in the row's unit. */
void region_per_call(struct work *w, const struct row *row, uint64_t calls);

/* Sets value and trimmed from the ticks of single calls. */
void region_singles(struct work *w, const struct row *row, uint64_t *ticks, uint64_t calls);

#endif
