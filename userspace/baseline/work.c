// SPDX-License-Identifier: GPL-2.0
/* What every benchmark works with: the region, its clock, children, one CPU. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "userspace/baseline/bench.h"
#include "userspace/baseline/clock.h"
#include "userspace/baseline/fault_inject.h"
#include "userspace/baseline/stats.h"

enum { SLOPE_TRIALS = 15, SLOPE_TURNS = 20000, STACK_BYTES = 16384 };

/* After a fork every page of the stack is shared until it is written: a fault of ours, no row's. */
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
	counters_start(w->counters);
	w->begun = clock_begin();
}

void region_end(struct work *w)
{
	w->spent_ticks = clock_end() - w->begun;
	if (w->counters)
		fault_inject_region(w->settings->fault, w->settings->dir);
	counters_stop(w->counters);
}

uint64_t work_tick(void)
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

void work_per_call(struct work *w, const struct row *row, uint64_t calls)
{
	w->value = in_unit(row->unit, clock_ns(w->spent_ticks) / calls);
}

void work_singles(struct work *w, const struct row *row, uint64_t *ticks, uint64_t calls)
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

/* That this thread ran: what neighbours take is not in it. */
static double ran_ns(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return ran.tv_sec * 1e9 + ran.tv_nsec;
}

/*
 * The lower quartiles of some short trials each: a hypervisor lengthens some, and a stretch of a
 * large cycle that happens to lie in a nearer cache shortens one.
 */
double work_slope(void (*turn)(void *own, uint64_t turns), void *own)
{
	double ns[2][SLOPE_TRIALS];

	for (int trial = 0; trial < 2 * SLOPE_TRIALS; trial++) {
		double from = ran_ns();

		turn(own, SLOPE_TURNS << (trial & 1));
		ns[trial & 1][trial / 2] = ran_ns() - from;
	}
	return stats_lower_quartile(ns[1], SLOPE_TRIALS) /
	       stats_lower_quartile(ns[0], SLOPE_TRIALS);
}

int work_fail(struct work *w, int err, const char *format, ...)
{
	va_list args;
	size_t used;

	va_start(args, format);
	used = vsnprintf(w->why, sizeof(w->why), format, args);
	va_end(args);
	if (err && used < sizeof(w->why))
		snprintf(w->why + used, sizeof(w->why) - used, ": %s", strerror(err));
	return err ? -err : -EINVAL;
}

pid_t work_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	return 0;
}

void work_reap(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int work_cpu(int index)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -1;
	index %= CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && !index--)
			return cpu;
	return -1;
}

void work_pin(int index)
{
	int cpu = work_cpu(index);
	cpu_set_t one;

	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

double work_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
