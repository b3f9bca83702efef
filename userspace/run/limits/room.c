// SPDX-License-Identifier: GPL-2.0
/* Compares a plan with the limits of descriptors, processes and threads of the tool. */
#include "userspace/run/limits/room.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "userspace/common/numbers.h"

enum {
	/* Programs, maps, links and counters of the backend with the most hooks, and some more. */
	TOOL_DESCRIPTORS = 256,
	/* Of an end, beside one for each connection: the listener, pipes, stdio. */
	END_DESCRIPTORS = 16,
	/* Beside the threads of both ends: the tool, its tries and helpers, each end's first thread. */
	OTHER_TASKS = 8,
};

static int check_descriptors(uint64_t connections)
{
	uint64_t need = connections + END_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (need < TOOL_DESCRIPTORS)
		need = TOOL_DESCRIPTORS;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= need)
		return 0;
	fprintf(stderr, "trace_run: the run needs %" PRIu64 " descriptors in one process, and the hard "
		"limit is %" PRIu64 ": raise it (ulimit -Hn %" PRIu64 ")%s\n", need,
		(uint64_t)limit.rlim_max, need,
		need > TOOL_DESCRIPTORS ? " or take fewer connections" : "");
	return -1;
}

/* UINT64_MAX for "max" and for a missing file. */
static uint64_t group_limit(const char *folder, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return number_in_file(path, UINT64_MAX);
}

/* How many more tasks the control group of this line of /proc/self/cgroup and those above it
 * allow. */
static uint64_t tasks_left(char *line)
{
	uint64_t left = UINT64_MAX;
	char folder[PATH_MAX], *controller = strchr(line, ':'), *at;
	size_t root;

	at = controller ? strchr(controller + 1, ':') : NULL;
	if (!at)
		return left;
	*at++ = '\0';
	at[strcspn(at, "\n")] = '\0';
	/* Version 2 has no controller in its line; version 1 one hierarchy for tasks. */
	if (controller[1] && strcmp(controller + 1, "pids"))
		return left;
	root = snprintf(folder, sizeof(folder), "/sys/fs/cgroup%s", controller[1] ? "/pids" : "");
	if (root + strlen(at) >= sizeof(folder))
		return left;
	strcpy(folder + root, at);
	for (;;) {
		uint64_t most = group_limit(folder, "pids.max");
		uint64_t now = group_limit(folder, "pids.current");
		char *end = strrchr(folder + root, '/');

		if (most != UINT64_MAX && now != UINT64_MAX && (most < now ? 0 : most - now) < left)
			left = most < now ? 0 : most - now;
		if (!end)
			return left;
		*end = '\0';
	}
}

static int check_tasks(uint64_t need)
{
	char line[PATH_MAX + 64];
	uint64_t left = UINT64_MAX;
	struct rlimit limit;
	FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, sizeof(line), file)) {
		uint64_t of_one = tasks_left(line);

		left = of_one < left ? of_one : left;
	}
	if (file)
		fclose(file);
	if (left < need) {
		fprintf(stderr, "trace_run: the run needs %" PRIu64 " processes and threads, and its control "
			"group takes %" PRIu64 " more: raise pids.max or take fewer connections\n",
			need, left);
		return -1;
	}
	/* The ends run as nobody, and the limit holds for nobody, unlike root. */
	if (!getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur < need) {
		fprintf(stderr, "trace_run: the run needs %" PRIu64 " processes and threads, and the limit is "
			"%" PRIu64 ": raise it (ulimit -u %" PRIu64 ") or take fewer connections\n",
			need, (uint64_t)limit.rlim_cur, need);
		return -1;
	}
	return 0;
}

int room_check(const struct workload_plan *plan)
{
	uint64_t senders = plan->threads, receivers = senders * (plan->readers ? plan->readers : 1);

	return check_descriptors(senders) || check_tasks(senders + receivers + OTHER_TASKS) ? -1 : 0;
}
