// SPDX-License-Identifier: GPL-2.0
/*
 * Begins a pass, starts and stops its clock and its counters, turns ticks into a row's unit, and
 * starts its children.
 */
#include "studies/baseline/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/proof.h"
#include "studies/baseline/bench/stats.h"

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

void work_init(struct work *w, const struct protocol *protocol, const struct machine_info *machine)
{
	*w = (struct work){
		.protocol = protocol, .machine = machine, .value = NAN, .trimmed = NAN,
	};
	for (int i = 0; i < WITNESS_COUNT; i++)
		w->witness[i] = NAN;
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

pid_t task_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	return 0;
}

void task_reap(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int task_cpu(int index)
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

void task_pin(int index)
{
	int cpu = task_cpu(index);
	cpu_set_t one;

	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
