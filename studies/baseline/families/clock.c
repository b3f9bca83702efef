// SPDX-License-Identifier: GPL-2.0
/*
 * Family clock: the core's own clock, by a chain of additions that each wait for the one before. One
 * takes one cycle, so additions in a second are cycles in a second. The time stamp counter is apart: it
 * ticks at a rate of its own, whatever the core does.
 */
#include <math.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/stats.h"
#include "studies/baseline/families/families.h"

enum { UNROLLED = 64, TURNS = 100, TRIES = 5 };

/* What share of its median a turn may differ by, and how many of the turns must not. */
#define TURN_SLACK 0.01
enum { TURNS_AGREE = TURNS / 2 };

#define FOUR(words) words words words words
#define SIXTY_FOUR(words) FOUR(FOUR(FOUR(words)))

/* Both operands are registers: some processors add constants while they rename, in no cycle. */
static uint64_t additions(uint64_t count)
{
	uint64_t sum = 0, one = 1;

	for (uint64_t i = 0; i < count / UNROLLED; i++)
#if defined(__x86_64__)
		asm volatile(SIXTY_FOUR("add %1, %0\n\t") : "+r"(sum) : "r"(one) : "cc");
#else
		asm volatile(SIXTY_FOUR("add %0, %0, %1\n\t") : "+r"(sum) : "r"(one));
#endif
	return sum;
}

static void add(void *sum, uint64_t count)
{
	*(uint64_t *)sum = additions(count);
}

#if defined(__x86_64__)
static void multiply(void *product, uint64_t count)
{
	uint64_t found = 1, one = 1;

	for (uint64_t i = 0; i < count / UNROLLED; i++)
		asm volatile(SIXTY_FOUR("imul %1, %0\n\t") : "+r"(found) : "r"(one) : "cc");
	*(uint64_t *)product = found;
}
#endif

/* Ticks of @TURNS turns of @count. */
static void time_turns(void (*turn)(void *, uint64_t), uint64_t count, double ticks[TURNS])
{
	uint64_t found;

	for (int i = 0; i < TURNS; i++) {
		uint64_t from = clock_begin();

		turn(&found, count);
		ticks[i] = clock_end() - from;
	}
}

static int turns_that_agree(const double ticks[TURNS], double median)
{
	int agree = 0;

	for (int i = 0; i < TURNS; i++)
		agree += fabs(ticks[i] - median) <= TURN_SLACK * median;
	return agree;
}

/* A processor that left additions out, or made two in a cycle, would not need three for a product. */
static void witness_product(struct work *w, uint64_t count)
{
#if defined(__x86_64__)
	double of_sum[TURNS], of_product[TURNS];

	time_turns(add, count, of_sum);
	time_turns(multiply, count, of_product);
	w->witness[WITNESS_PRODUCT] = stats_median(of_product, TURNS) / stats_median(of_sum, TURNS);
#endif
}

static int prepare_clock(struct work *w, const struct row *row)
{
	return w->machine->common.emulated ? work_fail(w, 0, "an emulated processor has no clock") : 0;
}

static void count_clock(struct work *w, uint64_t calls)
{
	uint64_t sum;

	region_begin(w);
	add(&sum, calls);
	region_end(w);
	w->witness[WITNESS_TURNS] = sum;
	w->witness[WITNESS_SLOPE] = slope_of(add, &sum);
	witness_product(w, calls);
}

static int time_clock(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t count = calls / TURNS / UNROLLED * UNROLLED;
	double ticks[TURNS], median = NAN;
	int agree = 0;

	task_pin(0);
	if (w->counting) {
		count_clock(w, calls);
		return 0;
	}
	for (int try = 0; try < TRIES && agree < TURNS_AGREE; try++) {
		time_turns(add, count, ticks);
		median = stats_median(ticks, TURNS);
		agree = turns_that_agree(ticks, median);
	}
	if (agree < TURNS_AGREE)
		return work_fail(w, 0, "%d of %d turns take the same time within %.0f %%: the clock changes, "
				 "or others take the CPU", agree, TURNS, TURN_SLACK * 100);
	w->value = count / clock_ns(median);
	return 0;
}

static const struct row rows[] = {
	{ .name = "core-clock", .title = "the core's clock, by dependent additions", .unit = "GHz",
	  .extra = true, .shows_clock = true, .one_mode = true, .calls = 10000000,
	  .quick_calls = 2000000, .counted_calls = 1571 * UNROLLED, .invariants = {
		ALL_IN_USER_MODE,
		{ EXACTLY, WITNESS(WITNESS_TURNS), 1, 0, 0, "the sum is of all additions" },
		TWICE_THE_TIME("twice the additions take twice as long: none is left out"),
#if defined(__x86_64__)
		{ EXACTLY, WITNESS(WITNESS_PRODUCT), 0, 3, 0.05, "a product takes three cycles" },
#endif
	  } },
};

const struct family family_clock = {
	.name = "clock", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_clock, .time = time_clock,
};
