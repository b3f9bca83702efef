// SPDX-License-Identifier: GPL-2.0
/*
 * Mounts /proc anew in a private mount namespace if it is not of this PID namespace.
 *
 * `unshare --pid --fork` without --mount-proc leaves the /proc of the namespace above, where the
 * number of a child is a stranger's.
 */
#include "userspace/common/own_proc.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>

/* NSpid has a number for each namespace from that of /proc down to the process's own. */
static bool proc_is_own(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	int outer, inner, numbers = 0;
	char line[256];

	while (file && !numbers && fgets(line, sizeof(line), file))
		numbers = sscanf(line, "NSpid: %d %d", &outer, &inner);
	if (file)
		fclose(file);
	return numbers == 1;
}

int own_proc(void)
{
	if (proc_is_own())
		return 0;
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return -errno;
	return proc_is_own() ? 0 : -ENOENT;
}
