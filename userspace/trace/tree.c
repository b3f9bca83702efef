// SPDX-License-Identifier: GPL-2.0
/* Finds the tree by the path of the running program, so that it works from any folder. */
#include "userspace/trace/tree.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void tree_path(const char *name, char *path, size_t size)
{
	char self[PATH_MAX] = {};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		snprintf(self, sizeof(self), "build/trace_run");
	snprintf(path, size, "%.3000s/%s", dirname(dirname(self)), name);
}

void tree_record_path(const char *name, char *path, size_t size)
{
	const char *runs = getenv("COPYSCOPE_RUNS");
	char folder[3500];

	if (runs) {
		snprintf(folder, sizeof(folder), "%s", runs);
	} else {
		/* A fresh clone has neither of the two. */
		tree_path("results", folder, sizeof(folder));
		mkdir(folder, 0755);
		tree_path("results/runs", folder, sizeof(folder));
	}
	mkdir(folder, 0755);
	snprintf(path, size, "%s/%s", folder, name);
}
