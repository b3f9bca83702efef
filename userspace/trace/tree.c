// SPDX-License-Identifier: GPL-2.0
/* Finds the tree by the path of the running program, so that it works from any folder. */
#include "userspace/trace/tree.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

void tree_path(const char *name, char *path, size_t size)
{
	char self[PATH_MAX] = {};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		snprintf(self, sizeof(self), "build/trace_run");
	snprintf(path, size, "%.3000s/%s", dirname(dirname(self)), name);
}
