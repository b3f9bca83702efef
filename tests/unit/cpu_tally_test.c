// SPDX-License-Identifier: GPL-2.0
/* Claims about samples of a whole watch: turns add up, a thread is one whenever it was found, bounds lose none unseen. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/watch/books/cpu_tally.h"

enum { TURN = 10007 };

/* One turn: @count threads from @first on, with a place each in user space and one that they share in the kernel. */
static void turn(struct cpu_tally *t, uint32_t tgid, uint32_t first, int count, uint64_t address, uint64_t lost)
{
	struct cpu_samples came = { .stacks = calloc(2 * count, sizeof(*came.stacks)), .stack_count = 2 * count,
				    .spans = calloc(count, sizeof(*came.spans)), .span_count = count, .lost = lost };

	for (int i = 0; i < count; i++) {
		came.stacks[2 * i] = (struct cpu_stack){ .tgid = tgid, .tid = first + i, .user = true, .samples = 2,
							 .address = address + i, .frames = "" };
		came.stacks[2 * i + 1] = (struct cpu_stack){ .tgid = tgid, .tid = first + i, .samples = 3,
							     .frames = "_copy_to_iter < tcp_recvmsg_locked" };
		came.spans[i] = (struct cpu_span){ .tgid = tgid, .tid = first + i, .first_ns = address, .periods = 4,
						   .skipped = 6, .run_ns = 5 };
	}
	assert_int_equal(cpu_tally_add(t, &came), 0);
	cpu_samples_free(&came);
}

static uint64_t samples_of(const struct cpu_samples *all)
{
	uint64_t sum = 0;

	for (int i = 0; i < all->stack_count; i++)
		sum += all->stacks[i].samples;
	return sum;
}

TEST(turns_add_up_by_place_and_by_thread)
{
	struct cpu_tally t = {};
	struct cpu_samples all;

	turn(&t, 812, 900, 2, 0x1000, 0);
	turn(&t, 812, 900, 2, 0x1000, 7);
	turn(&t, 812, 900, 2, 0x2000, 7);
	assert_int_equal(cpu_tally_all(&t, &all), 0);
	assert_int_equal(samples_of(&all), 3 * 2 * 5);
	/* Of each thread one in the kernel, two in user space; a span that goes on is told as a whole, a new one adds. */
	assert_int_equal(all.stack_count, 2 * 3);
	assert_int_equal(all.span_count, 2);
	assert_int_equal(all.spans[0].periods, 2 * 4);
	assert_int_equal(all.spans[0].skipped, 2 * 6);
	assert_int_equal(all.spans[0].run_ns, 2 * 5);
	assert_int_equal(all.lost, 7);
	assert_int_equal(all.stacks[0].class, CPU_RECV_COPY);
	cpu_samples_free(&all);
	cpu_tally_free(&t);
}

/* Addresses go first, then threads; no sample goes unless there are too many processes. */
TEST(a_long_watch_stays_in_bounds_and_keeps_its_samples)
{
	struct cpu_tally t = {};
	struct cpu_samples all;
	const uint32_t turns = 2 * CPU_ROWS_MOST / TURN;

	for (uint32_t i = 0; i < turns; i++)
		turn(&t, 812, 900 + i * TURN, TURN, 0x1000 + i, 0);
	assert_true(t.row_count <= CPU_ROWS_MOST && t.span_count <= CPU_SPANS_MOST + TURN);
	assert_int_equal(cpu_tally_all(&t, &all), 0);
	assert_int_equal(samples_of(&all), (uint64_t)turns * TURN * 5);
	assert_int_equal(all.lost, 0);
	cpu_samples_free(&all);
	cpu_tally_free(&t);
}

TEST(samples_of_more_processes_than_there_is_room_for_are_lost_and_counted)
{
	struct cpu_tally t = {};
	struct cpu_samples all;
	uint64_t made = 0;

	for (uint32_t from = 0; from < CPU_ROWS_MOST; from += TURN) {
		struct cpu_samples came = { .stacks = calloc(TURN, sizeof(*came.stacks)), .stack_count = TURN };

		for (int i = 0; i < TURN; i++)
			came.stacks[i] = (struct cpu_stack){ .tgid = 1 + from + i, .tid = 1, .user = true, .samples = 3,
							     .frames = "" };
		made += 3 * TURN;
		assert_int_equal(cpu_tally_add(&t, &came), 0);
		cpu_samples_free(&came);
	}
	assert_int_equal(cpu_tally_all(&t, &all), 0);
	assert_int_equal(all.stack_count, CPU_ROWS_MOST);
	assert_int_equal(samples_of(&all) + all.lost, made);
	cpu_samples_free(&all);
	cpu_tally_free(&t);
}
