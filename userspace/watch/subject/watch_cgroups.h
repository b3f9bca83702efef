/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the cgroups of version 2 by their numbers, which are the inodes of their folders. */
#ifndef COPYSCOPE_WATCH_CGROUPS_H
#define COPYSCOPE_WATCH_CGROUPS_H

#include "userspace/watch/record/watch_record.h"

/* Where they are mounted; false if nowhere. */
bool watch_cgroup_mount(char path[WATCH_PATH_BYTES]);

/* All that there are now, in the order of their numbers, each by its path below the mount; the
 * caller's to free. How many. */
int watch_cgroups_list(struct watch_cgroup **list);

#endif
