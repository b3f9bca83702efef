// SPDX-License-Identifier: GPL-2.0
/* Family syscall: the cheapest system call, getuid, which nothing caches. */
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/baseline/families.h"

static int time_syscall(struct work *w, const struct row *row, uint64_t calls)
{
	work_pin(0);
	region_begin(w);
	for (uint64_t i = 0; i < calls; i++)
		syscall(SYS_getuid);
	region_end(w);
	work_per_call(w, row, calls);
	return 0;
}

static const struct row rows[] = {
	{ .name = "syscall", .title = "system call (getuid)", .unit = "ns",
	  .calls = 1000000, .quick_calls = 200000, .counted_calls = 100003,
	  .invariants = {
		{ EXACTLY, EVENT_getuid, 1, 0, 0, "one getuid a call" },
		{ EXACTLY, EVENT_syscalls, 1, 0, 0, "no other system call" },
		{ EXACTLY, EVENT_voluntary, 0, 0, 0, "the process never waits" },
		{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" },
	  } },
};

const struct family family_syscall = {
	.name = "syscall", .rows = rows, .count = 1, .time = time_syscall,
};
