// SPDX-License-Identifier: GPL-2.0
/* Walks over the folders of cgroup version 2. */
#include "userspace/watch/subject/watch_cgroups.h"

#include <fts.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool watch_cgroup_mount(char path[WATCH_PATH_BYTES])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, "cgroup2");
		if (found)
			snprintf(path, WATCH_PATH_BYTES, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct watch_cgroup *)a)->id, y = ((const struct watch_cgroup *)b)->id;

	return (x > y) - (x < y);
}

static bool add(struct watch_cgroup **list, int *count, uint64_t id, const char *path)
{
	struct watch_cgroup *more = realloc(*list, (*count + 1) * sizeof(*more));

	if (!more)
		return false;
	*list = more;
	more[*count].id = id;
	snprintf(more[(*count)++].path, WATCH_PATH_BYTES, "%s", *path ? path : "/");
	return true;
}

int watch_cgroups_list(struct watch_cgroup **list)
{
	char mount[WATCH_PATH_BYTES], *roots[] = { mount, NULL };
	int count = 0;
	FTSENT *entry;
	FTS *walk;

	*list = NULL;
	if (!watch_cgroup_mount(mount))
		return 0;
	walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_D &&
		    !add(list, &count, entry->fts_statp->st_ino, entry->fts_path + strlen(mount)))
			break;
	if (walk)
		fts_close(walk);
	if (count)
		qsort(*list, count, sizeof(**list), by_id);
	return count;
}
