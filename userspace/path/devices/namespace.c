// SPDX-License-Identifier: GPL-2.0
/* What every path is made with: namespaces to go into, and iproute2 to furnish them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/system/helper.h"
#include "userspace/path/parts.h"

int path_new_namespace(int *ns)
{
	if (unshare(CLONE_NEWNET))
		return -errno;
	*ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ns < 0 ? -errno : 0;
}

int path_run_ip(const char *batch, const int *named, int count)
{
	static const char *const argv[] = { "ip", "-batch", "-", NULL };
	int in[2], status, err;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		err = helper_become(argv, named, count);
		fprintf(stderr, "trace_run: cannot run ip: %s; install iproute2\n", strerror(-err));
		_exit(127);
	}
	close(in[0]);
	if (write(in[1], batch, strlen(batch)) < 0)
		perror("trace_run: ip");
	close(in[1]);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

void path_add_device(struct path *path, int ns, const char *name, bool sends)
{
	struct path_device *device = &path->device[path->device_count++];

	*device = (struct path_device){ .ns = ns, .sends = sends };
	snprintf(device->name, sizeof(device->name), "%s", name);
}

/* Duplicate address detection would keep an IPv6 address unusable for a second. */
int path_set_up(const struct path_port *port, const char *first, int named)
{
	char batch[PATH_BATCH_BYTES];

	snprintf(batch, sizeof(batch), "%slink set lo up\naddr add %s dev %s%s\nlink set %s up\n",
		 first, port->address, port->device, strchr(port->address, ':') ? " nodad" : "",
		 port->device);
	return path_run_ip(batch, &named, named >= 0);
}

int path_enter(const struct path *path, enum end end)
{
	return setns(path->ns[end], CLONE_NEWNET) ? -errno : 0;
}

int path_leave(const struct path *path)
{
	return setns(path->home_ns, CLONE_NEWNET) ? -errno : 0;
}
