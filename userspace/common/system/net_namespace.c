// SPDX-License-Identifier: GPL-2.0
/* Unshares a network namespace, and pipes commands to iproute2. */
#include "userspace/common/system/net_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/printable.h"
#include "userspace/common/system/helper.h"

int net_namespace_new(int *ns)
{
	if (unshare(CLONE_NEWNET))
		return -errno;
	*ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ns < 0 ? -errno : 0;
}

static void complain(const char *what, int err, const char *advice)
{
	fprintf(stderr, "%s: %s: %s%s\n", printable(program_invocation_short_name), what, strerror(err),
		advice);
}

int net_namespace_run_ip(const char *batch, const int *named, int count)
{
	static const char *const argv[] = { "ip", "-batch", "-", NULL };
	int in[2], status;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		complain("cannot run ip", -helper_become(argv, named, count), "; install iproute2");
		_exit(127);
	}
	close(in[0]);
	if (write(in[1], batch, strlen(batch)) < 0)
		complain("cannot pass commands to ip", errno, "");
	close(in[1]);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}
