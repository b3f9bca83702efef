// SPDX-License-Identifier: GPL-2.0
/* Looks at the load, at what is allowed, and at how much memory is there. */
#include "studies/baseline/machine/interference.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "studies/baseline/machine/cgroup_limits.h"

enum { SHORT_OF_MEMORY = 512 << 20 };

/* Tasks that run or wait for a CPU at this moment, without this one. */
static int neighbours(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	int running = 1;

	if (file && fscanf(file, "%*f %*f %*f %d/", &running) != 1)
		running = 1;
	if (file)
		fclose(file);
	return running - 1;
}

/* The largest of ten counts: a neighbour that sleeps during one may run during another. */
static int busiest_neighbours(void)
{
	int most = 0;

	for (int i = 0; i < 10; i++) {
		int now = neighbours();

		most = now > most ? now : most;
		usleep(5000);
	}
	return most;
}

double interference_stolen(void)
{
	static unsigned long long last_all, last_stolen;
	unsigned long long v[8] = {}, all = 0, stolen;
	FILE *file = fopen("/proc/stat", "re");
	double share;
	int got = 0;

	if (file) {
		got = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1],
			     &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
		fclose(file);
	}
	for (int i = 0; i < 8; i++)
		all += v[i];
	stolen = v[7];
	share = got == 8 && all > last_all ? (double)(stolen - last_stolen) / (all - last_all) : NAN;
	last_all = all;
	last_stolen = stolen;
	return share;
}

void interference_look(const struct machine_info *m, struct warnings *warnings)
{
	int busy = busiest_neighbours(), allowed = sysconf(_SC_NPROCESSORS_ONLN);
	double quota = cgroup_cpus();
	cpu_set_t set;

	if (busy)
		warnings_add(warnings, "%d other task%s ran before the first measurement: times are of a "
			   "machine that is shared", busy, busy > 1 ? "s" : "");
	if (quota < allowed)
		warnings_add(warnings, "this control group may use %.2f CPUs: longer runs are throttled, "
			   "raise cpu.max or cpu.cfs_quota_us", quota);
	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) < allowed)
		warnings_add(warnings, "this process may use %d of %d CPUs", CPU_COUNT(&set), allowed);
	if (m->available_bytes < SHORT_OF_MEMORY)
		warnings_add(warnings, "only %llu MiB of memory are available: large working sets and files "
			   "shrink or are left out", (unsigned long long)m->available_bytes >> 20);
	if (m->common.emulated)
		warnings_add(warnings, "this machine is emulated: counts are exact, times mean nothing");
	interference_stolen();
}
