/* SPDX-License-Identifier: GPL-2.0 */
/* Measures one row: a counting pass that proves what it does, and timing passes without counters. */
#ifndef COPYSCOPE_BASELINE_MEASURE_H
#define COPYSCOPE_BASELINE_MEASURE_H

#include "studies/baseline/outcome.h"

/* Draws the curve of a row that shows the levels of the cache, and finds them in it. */
void measure_levels(struct outcome *o, const struct protocol *protocol,
		    struct machine_info *machine);

/* Finds the core's clock by short runs of the row that shows it. */
void measure_clock(const struct outcome *o, const struct protocol *protocol,
		   struct machine_info *machine);

/* The counting pass. */
void measure_prove(struct outcome *o, const struct protocol *protocol,
		   const struct machine_info *machine);

/* One round of timing runs; with the curve if it is the first. */
void measure_time(struct outcome *o, const struct protocol *protocol,
		  const struct machine_info *machine);

/* Sums the row up once all rounds are done. */
void measure_sum(struct outcome *o);

#endif
