// SPDX-License-Identifier: GPL-2.0
/*
 * Does a counter that opens but never counts pass for a measured 0?
 *
 * QEMU's emulated Arm PMU accepts every raw event and leaves those it does not know at 0. Here the
 * two cache events are replaced by raw ones, and a child runs some millions of instructions. Prints
 * one line an event: NAME VALUE, or NAME null WHY.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/counters/counters.h"

enum { LOOPS = 1000000, ARM_L1D_CACHE_REFILL = 0x03, ARM_LL_CACHE_MISS_RD = 0x37 };

static int open_raw(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	if (attr->type == PERF_TYPE_HW_CACHE) {
		attr->type = PERF_TYPE_RAW;
		attr->config = (attr->config & 0xff) == PERF_COUNT_HW_CACHE_L1D ?
				       ARM_L1D_CACHE_REFILL : ARM_LL_CACHE_MISS_RD;
	}
	return syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

static void child_work(int go)
{
	volatile int loops = 0;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	while (loops < LOOPS)
		loops++;
	_exit(0);
}

int main(void)
{
	const struct counter_env env = { .open = open_raw };
	struct counter_value values[COUNTER_COUNT];
	struct counter_set *set;
	int go[2], err;
	pid_t pid;

	if (pipe(go))
		return 1;
	pid = fork();
	if (!pid)
		child_work(go[0]);
	err = counters_open(&set, pid, &env);
	if (err)
		return 1;
	counters_enable(set);
	if (write(go[1], "g", 1) != 1)
		return 1;
	waitpid(pid, NULL, 0);
	counters_read(set, values);
	counters_close(set);
	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (values[i].known)
			printf("%s %" PRIu64 "\n", counter_name(i), values[i].value);
		else
			printf("%s null %s\n", counter_name(i), values[i].why);
	}
	return 0;
}
