// SPDX-License-Identifier: GPL-2.0
/* Finds the tree by the path of the running program, so that it works from any folder. */
#include "userspace/common/files/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/files/trusted_folder.h"

void tree_path(const char *name, char *path, size_t size)
{
	char self[PATH_MAX] = {};

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		snprintf(self, sizeof(self), "build/trace_run");
	snprintf(path, size, "%.3000s/%s", dirname(dirname(self)), name);
}

/* The caller that opens it reports what is wrong. */
static void make_folder(const char *path)
{
	char parent[PATH_MAX], last[PATH_MAX], why[FOLDER_WHY_BYTES];
	int fd;

	snprintf(parent, sizeof(parent), "%s", path);
	snprintf(last, sizeof(last), "%s", path);
	fd = trusted_folder_open(dirname(parent), why);
	if (fd < 0)
		return;
	mkdirat(fd, basename(last), 0755);
	close(fd);
}

int tree_record_path(const char *name, char *path, size_t size)
{
	const char *runs = getenv("COPYSCOPE_RUNS");
	char folder[PATH_MAX];

	/* An empty one, as of an unset variable, would mean the root folder. */
	if (!runs || !*runs) {
		/* A fresh clone has neither of the two. */
		tree_path("results", folder, sizeof(folder));
		make_folder(folder);
		tree_path("results/runs", folder, sizeof(folder));
		runs = folder;
	}
	if (snprintf(path, size, "%s/%s", runs, name) >= (int)size)
		return -ENAMETOOLONG;
	make_folder(runs);
	return 0;
}
