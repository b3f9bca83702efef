// SPDX-License-Identifier: GPL-2.0
/* Starts and stops clock and counters, and turns ticks into a row's unit. */
#include "studies/baseline/bench/region.h"

#include <stdlib.h>
#include <string.h>

#include "studies/baseline/proof/fault_inject.h"
#include "studies/baseline/timing/clock.h"
#include "studies/baseline/timing/stats.h"

enum { STACK_BYTES = 16384 };

/* After a fork the first write to a stack page faults. Such faults must not be counted for the row. */
__attribute__((noinline)) static void touch_stack(void)
{
	volatile char room[STACK_BYTES];

	for (size_t i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
}

void region_begin(struct work *w)
{
	touch_stack();
	w->begun = w->spent_ticks = 0;
	counting_start(w->counting);
	w->begun = clock_begin();
}

void region_end(struct work *w)
{
	w->spent_ticks = clock_end() - w->begun;
	if (w->counting)
		fault_inject_region(w->protocol->fault, w->protocol->dir);
	counting_stop(w->counting);
}

uint64_t region_tick(void)
{
	return clock_end();
}

static double in_unit(const char *unit, double ns)
{
	if (!strcmp(unit, "us"))
		return ns / 1e3;
	if (!strcmp(unit, "ms"))
		return ns / 1e6;
	return ns;
}

void region_per_call(struct work *w, const struct row *row, uint64_t calls)
{
	w->value = in_unit(row->unit, clock_ns(w->spent_ticks) / calls);
}

void region_singles(struct work *w, const struct row *row, uint64_t *ticks, uint64_t calls)
{
	double *values = calloc(calls, sizeof(*values));

	if (!values)
		abort();
	for (uint64_t i = 0; i < calls; i++)
		values[i] = in_unit(row->unit, clock_ns(ticks[i]));
	w->value = stats_mean(values, calls);
	w->trimmed = stats_trimmed_mean(values, calls);
	free(values);
}
