// SPDX-License-Identifier: GPL-2.0
/* Family overhead: what reading the clock and going round a loop cost. */
#include "userspace/baseline/clock.h"
#include "userspace/baseline/families.h"

enum { TIMING, LOOP, LOOP_REGISTER };

static int time_overhead(struct work *w, const struct row *row, uint64_t calls)
{
	/* In memory, as the published program's counter was: compiled without optimisation. */
	volatile uint64_t slow = 0;
	uint64_t fast;

	work_pin(0);
	region_begin(w);
	if (row->which == TIMING)
		for (fast = 0; fast < calls; fast++)
			clock_end();
	else if (row->which == LOOP)
		for (slow = 0; slow < calls; slow++)
			;
	else
		for (fast = 0; fast < calls; fast++)
			asm volatile("" : "+r"(fast));
	region_end(w);
	work_per_call(w, row, calls);
	return 0;
}

#define ROW(id, text, is_extra, number)                                                    \
	{ .name = id, .title = text, .unit = "ns", .which = number, .extra = is_extra,      \
	  .calls = 1000000, .quick_calls = 1000000, .counted_calls = 1000000,               \
	  .invariants = { ALL_IN_USER_MODE } }

static const struct row rows[] = {
	ROW("timing", "reading the clock", false, TIMING),
	ROW("loop", "one turn of an empty loop, counter in memory", false, LOOP),
	ROW("loop-register", "one turn of an empty loop, counter in a register", true,
	    LOOP_REGISTER),
};

const struct family family_overhead = {
	.name = "overhead", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.time = time_overhead,
};
