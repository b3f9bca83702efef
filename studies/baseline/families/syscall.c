// SPDX-License-Identifier: GPL-2.0
/*
 * Family syscall: the cheapest system call, getuid, which nothing caches; the same while system calls
 * are traced, by whomever; getppid, which looks up another task, as lmbench does; and the first
 * getuid of a process, or a later one.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/families/families.h"

enum { GETUID, GETPPID, TRACED, FIRST };

/*
 * An event of raw_syscalls/sys_enter, which counts nothing. While anybody has one, every task of the
 * machine enters the kernel by the way that tracers see (SYSCALL_WORK_SYSCALL_TRACEPOINT, set for
 * all threads by syscall_regfunc(), kernel/tracepoint.c).
 */
static int prepare_syscall(struct work *w, const struct row *row)
{
	const bool wanted[EVENT_COUNT] = { [EVENT_syscalls] = true };
	const struct counting_of of = { .device = "" };

	if (row->which != TRACED)
		return 0;
	w->own = counting_open(wanted, &of, w->why, sizeof(w->why));
	return *w->why ? -EPERM : 0;
}

static void undo_syscall(struct work *w)
{
	counting_close(w->own);
}

/* Each process makes calls until the one that is asked for, which alone is told. */
static void call_until(uint64_t nth, uint64_t *ticks)
{
	for (uint64_t i = 1; i <= nth; i++) {
		uint64_t from = region_tick();

		syscall(SYS_getuid);
		*ticks = region_tick() - from;
	}
	_exit(0);
}

static int time_first(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t bytes = calls * sizeof(uint64_t), nth = w->x ? w->x : 1;
	uint64_t *ticks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (ticks == MAP_FAILED)
		return work_fail(w, errno, "no memory");
	task_pin(0);
	region_begin(w);
	for (uint64_t i = 0; i < calls; i++) {
		pid_t pid = task_fork();

		if (!pid)
			call_until(nth, &ticks[i]);
		waitpid(pid, NULL, 0);
	}
	region_end(w);
	region_singles(w, row, ticks, calls);
	munmap(ticks, bytes);
	return 0;
}

static uint64_t places(const struct work *w, int i)
{
	static const uint64_t nth[] = { 1, 2, 3, 10, 100, 1000, 0 };

	return nth[i];
}

static int time_syscall(struct work *w, const struct row *row, uint64_t calls)
{
	long number = row->which == GETPPID ? SYS_getppid : SYS_getuid;

	if (row->which == FIRST)
		return time_first(w, row, calls);
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
	  .one_mode = true, .calls = 1000000, .quick_calls = 200000, .counted_calls = 100003,
	  .invariants = {
		{ EXACTLY, EVENT_getuid, 1, 0, 0, "one getuid a call" }, NOTHING_ELSE } },
	{ .name = "syscall-getppid", .title = "system call (getppid)", .unit = "ns",
	  .which = GETPPID, .extra = true, .one_mode = true, .calls = 1000000,
	  .quick_calls = 200000, .counted_calls = 100003, .invariants = {
		{ EXACTLY, EVENT_getuid, 0, 0, 0, "none is getuid" }, NOTHING_ELSE } },
	{ .name = "syscall-traced", .title = "system call (getuid), while system calls are traced",
	  .unit = "ns", .which = TRACED, .extra = true, .one_mode = true, .calls = 1000000,
	  .quick_calls = 200000, .counted_calls = 100003, .invariants = {
		{ EXACTLY, EVENT_getuid, 1, 0, 0, "its tracer sees one getuid a call" }, NOTHING_ELSE } },
	{ .name = "syscall-first", .title = "first system call of a process (getuid)", .unit = "ns",
	  .which = FIRST, .extra = true, .takes_turns = true, .calls = 200, .quick_calls = 50,
	  .counted_calls = 53, .point = places, .x_unit = "call of the process", .invariants = {
		{ EXACTLY, EVENT_getuid, 1, 0, 0, "one getuid a process" },
		{ EXACTLY, EVENT_forks, 1, 0, 0, "one process created a call" } } },
};

const struct family family_syscall = {
	.name = "syscall", .rows = rows, .count = 4, .prepare = prepare_syscall,
	.time = time_syscall, .undo = undo_syscall,
};
