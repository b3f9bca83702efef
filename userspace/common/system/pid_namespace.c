// SPDX-License-Identifier: GPL-2.0
/*
 * Mounts /proc anew in a private mount namespace if it is not of this PID namespace.
 *
 * `unshare --pid --fork` without --mount-proc leaves the /proc of the namespace above, where the
 * number of a child is a stranger's.
 */
#include "userspace/common/system/pid_namespace.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

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

static int mount_own_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return -errno;
	return proc_is_own() ? 0 : -ENOENT;
}

/* After unshare --pid without --fork they are not: the first child of the shell becomes the first
 * process of the namespace for children, and when it ends the kernel kills all others. */
static bool children_are_here(void)
{
	struct stat own, theirs;

	return stat("/proc/self/ns/pid", &own) ||
	       (!stat("/proc/self/ns/pid_for_children", &theirs) && own.st_ino == theirs.st_ino);
}

int pid_namespace_settle(const char *program)
{
	int err = proc_is_own() ? 0 : mount_own_proc();

	if (err) {
		fprintf(stderr, "%s: /proc is not of this PID namespace, and mounting it is refused "
			"(%s): start it with unshare --mount-proc\n", program, strerror(-err));
		return err;
	}
	if (children_are_here())
		return 0;
	fprintf(stderr, "%s: its children would live in another PID namespace: give unshare --fork "
		"besides --pid\n", program);
	return -EINVAL;
}
