// SPDX-License-Identifier: GPL-2.0
/* Family overhead: what reading the clock and going round a loop cost. */
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/families/families.h"

enum { TIMING, INTRINSIC, LOOP, LOOP_REGISTER };

struct turns {
	int which;
	uint64_t made;
};

/* As clock_end(), by what the compiler offers in place of assembly. */
static inline void clock_by_intrinsics(void)
{
#if defined(__x86_64__)
	unsigned int cpu;

	__rdtscp(&cpu);
	_mm_lfence();
#endif
}

static void turn(void *turns, uint64_t calls)
{
	struct turns *t = turns;
	/* In memory, as the published program's counter was: compiled without optimisation. */
	volatile uint64_t slow = 0;
	uint64_t fast = 0;

	if (t->which == TIMING)
		for (; fast < calls; fast++)
			clock_end();
	else if (t->which == INTRINSIC)
		for (; fast < calls; fast++)
			clock_by_intrinsics();
	else if (t->which == LOOP)
		for (; slow < calls; slow++)
			;
	else
		for (; fast < calls; fast++)
			asm volatile("" : "+r"(fast));
	t->made = slow + fast;
}

static int time_overhead(struct work *w, const struct row *row, uint64_t calls)
{
	struct turns t = { .which = row->which };

	task_pin(0);
	region_begin(w);
	turn(&t, calls);
	region_end(w);
	region_per_call(w, row, calls);
	w->witness[WITNESS_TURNS] = t.made;
	if (w->counting)
		w->witness[WITNESS_SLOPE] = slope_of(turn, &t);
	return 0;
}

#define ROW(id, text, is_extra, number)                                                    \
	{ .name = id, .title = text, .unit = "ns", .which = number, .extra = is_extra,      \
	  .calls = 1000000, .quick_calls = 1000000, .counted_calls = 100003,                \
	  .invariants = { ALL_IN_USER_MODE,                                                 \
		{ EXACTLY, WITNESS(WITNESS_TURNS), 1, 0, 0, "the counter ends at the last turn" }, \
		TWICE_THE_TIME("twice the turns take twice as long: none is left out") } }

static const struct row rows[] = {
	ROW("timing", "reading the clock", false, TIMING),
#if defined(__x86_64__)
	ROW("timing-intrinsic", "reading the clock by the compiler's intrinsics", true, INTRINSIC),
#endif
	ROW("loop", "one turn of an empty loop, counter in memory", false, LOOP),
	ROW("loop-register", "one turn of an empty loop, counter in a register", true,
	    LOOP_REGISTER),
};

const struct family family_overhead = {
	.name = "overhead", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.time = time_overhead,
};
