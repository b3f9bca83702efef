// SPDX-License-Identifier: GPL-2.0
/* Reads the limits of this process's control group and of every group above it. */
#include "studies/baseline/machine/cgroup_limits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HOME "/sys/fs/cgroup"

enum { PATH_BYTES = 700, LINE_BYTES = 512 };

struct group {
	char path[PATH_BYTES];
	size_t home;		/* length of the part that is no group any more */
	bool v1;
};

/* "4:cpu,cpuacct:/a/b" is v1's, "0::/a/b" is v2's; v1 comes first where both are mounted. */
static bool find_group(const char *controller, struct group *g)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[LINE_BYTES], names[LINE_BYTES], where[LINE_BYTES];
	bool found = false;

	while (file && fgets(line, sizeof(line), file) && !found) {
		if (sscanf(line, "%*d:%[^:]:%s", names, where) == 2) {
			char *name = strtok(names, ",");

			while (name && strcmp(name, controller))
				name = strtok(NULL, ",");
			g->v1 = found = name;
		} else {
			found = sscanf(line, "0::%s", where) == 1;
		}
	}
	if (file)
		fclose(file);
	if (!found)
		return false;
	g->home = snprintf(g->path, sizeof(g->path), HOME "%s%s", g->v1 ? "/" : "",
			   g->v1 ? controller : "");
	snprintf(g->path + g->home, sizeof(g->path) - g->home, "%s", where);
	return true;
}

/* To the group above; false at the top. */
static bool go_up(struct group *g)
{
	char *slash = strrchr(g->path + g->home, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* How many numbers the file begins with; "max" is none. */
static int read_numbers(const struct group *g, const char *name, double numbers[2])
{
	char path[PATH_BYTES + 64];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "%s/%s", g->path, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	got = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
	fclose(file);
	return got;
}

static double cpus_here(const struct group *g)
{
	double v[2] = { -1, 100000 }, period[2];

	read_numbers(g, g->v1 ? "cpu.cfs_quota_us" : "cpu.max", v);
	if (g->v1 && read_numbers(g, "cpu.cfs_period_us", period))
		v[1] = period[0];
	return v[0] > 0 ? v[0] / v[1] : INFINITY;
}

static double memory_here(const struct group *g)
{
	double v[2] = { INFINITY };

	read_numbers(g, g->v1 ? "memory.limit_in_bytes" : "memory.max", v);
	return v[0];
}

static double lowest(const char *controller, double (*here)(const struct group *))
{
	double found = INFINITY;
	struct group g;

	if (!find_group(controller, &g))
		return found;
	do
		found = fmin(found, here(&g));
	while (go_up(&g));
	return found;
}

double cgroup_cpus(void)
{
	return lowest("cpu", cpus_here);
}

uint64_t cgroup_memory_bytes(void)
{
	double bytes = lowest("memory", memory_here);

	return bytes < (double)INT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}
