// SPDX-License-Identifier: GPL-2.0
/* Claims about the plugin's tasks: what an interrupt pushes is on a stack, and payload is on none. */
#include "studies/plugin/follow.h"
#include "tests/unit/unit.h"

enum { STACK_BYTES = 16384 };

/* Addresses as x86 has them without KASLR. */
static const uint64_t task_stack = 0xffffc90000123f58, irq_stack = 0xffffc90000003fd0;
static const uint64_t direct_map = 0xffff888012345000, user = 0x7ffd12345000;
static const uint64_t first_stack = 0xffffffff82a03e58;

static const struct block inside = { .kernel = true, .switches = true };
static const struct block after = { .kernel = true };

static int begin(void **state)
{
	follow_stack_bytes = STACK_BYTES;
	return 0;
}

static int end(void **state)
{
	follow_anew();
	return 0;
}

/* Another task runs: its stack is what the function that switches reads last. */
static void switch_to(struct runner *r, uint64_t stack)
{
	follow_block(r, &inside);
	/* Between its blocks the last access is to the task's own memory. */
	follow_switch(r, direct_map);
	follow_block(r, &inside);
	follow_switch(r, stack);
	follow_block(r, &after);
}

TEST_BETWEEN(nothing_is_a_stack_before_a_task_was_seen, begin, end)
{
	struct runner r;

	follow_begin(&r, 0);
	assert_false(follow_is_stack(r.task, irq_stack));
	switch_to(&r, first_stack);
	assert_false(follow_is_stack(r.task, irq_stack));
	assert_true(follow_is_stack(r.task, first_stack - 40));
}

TEST_BETWEEN(stacks_of_tasks_and_of_interrupts_are_stacks, begin, end)
{
	struct runner r;

	follow_begin(&r, 0);
	switch_to(&r, task_stack);
	assert_true(follow_is_stack(r.task, task_stack - 40));
	assert_true(follow_is_stack(r.task, irq_stack));
	/* The first task, which idles, has its stack in the kernel's image. */
	switch_to(&r, first_stack);
	assert_true(follow_is_stack(r.task, irq_stack));
}

TEST_BETWEEN(payload_is_on_no_stack, begin, end)
{
	struct runner r;

	follow_begin(&r, 0);
	switch_to(&r, task_stack);
	assert_false(follow_is_stack(r.task, direct_map));
	assert_false(follow_is_stack(r.task, user));
}

TEST_BETWEEN(a_machine_whose_interrupts_push_nothing_has_none, begin, end)
{
	struct runner r;

	follow_stack_bytes = 1;
	follow_begin(&r, 0);
	switch_to(&r, task_stack);
	assert_false(follow_is_stack(r.task, task_stack));
}
