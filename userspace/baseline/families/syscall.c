// SPDX-License-Identifier: GPL-2.0
/*
 * Family syscall: the cheapest system call, getuid, which nothing caches; and getppid, which looks
 * up another task, as lmbench does.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/baseline/bench/region.h"
#include "userspace/baseline/bench/task.h"
#include "userspace/baseline/families/families.h"

enum { GETUID, GETPPID };

static int time_syscall(struct work *w, const struct row *row, uint64_t calls)
{
	long number = row->which == GETUID ? SYS_getuid : SYS_getppid;

	task_pin(0);
	region_begin(w);
	for (uint64_t i = 0; i < calls; i++)
		syscall(number);
	region_end(w);
	region_per_call(w, row, calls);
	return 0;
}

#define NOTHING_ELSE                                                                        \
	{ EXACTLY, EVENT_syscalls, 1, 0, 0, "no other system call" },                       \
	{ EXACTLY, EVENT_voluntary, 0, 0, 0, "the process never waits" },                   \
	{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" }

static const struct row rows[] = {
	{ .name = "syscall", .title = "system call (getuid)", .unit = "ns", .which = GETUID,
	  .calls = 1000000, .quick_calls = 200000, .counted_calls = 100003,
	  .invariants = {
		{ EXACTLY, EVENT_getuid, 1, 0, 0, "one getuid a call" }, NOTHING_ELSE } },
	{ .name = "syscall-getppid", .title = "system call (getppid)", .unit = "ns",
	  .which = GETPPID, .extra = true, .calls = 1000000, .quick_calls = 200000,
	  .counted_calls = 100003, .invariants = {
		{ EXACTLY, EVENT_getuid, 0, 0, 0, "none is getuid" }, NOTHING_ELSE } },
};

const struct family family_syscall = {
	.name = "syscall", .rows = rows, .count = 2, .time = time_syscall,
};
