// SPDX-License-Identifier: GPL-2.0
/* The kinds of path, and what all of them begin and end with: namespaces and iproute2. */
#include "userspace/path/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/path/parts.h"

static const struct {
	const char *kind;
	int (*check)(const struct path_wish *wish);
	int (*arrange)(struct path *path, const struct path_wish *wish);
} kinds[] = {
	{ "lo", NULL, path_lo },
	{ "veth", NULL, path_veth },
	{ "nic", nics_check, path_nic },
	{ "forward", nics_check, path_forward },
	{ "peer", NULL, path_peer },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static int kind_of(const char *kind)
{
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].kind, kind))
			return i;
	return -1;
}

bool path_known(const char *kind)
{
	return kind_of(kind) >= 0;
}

int path_check(const struct path_wish *wish)
{
	int kind = kind_of(wish->kind);
	int err = kinds[kind].check ? kinds[kind].check(wish) : 0;

	return err ? err : switches_check(wish);
}

int path_new_namespace(int *ns)
{
	if (unshare(CLONE_NEWNET))
		return -errno;
	*ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ns < 0 ? -errno : 0;
}

int path_run_ip(const char *batch)
{
	int in[2], status;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		execlp("ip", "ip", "-batch", "-", (char *)NULL);
		fprintf(stderr, "trace_run: cannot run ip: %s; install iproute2\n", strerror(errno));
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
int path_set_up(const struct path_port *port, const char *first)
{
	char batch[PATH_BATCH_BYTES];

	snprintf(batch, sizeof(batch), "%slink set lo up\naddr add %s dev %s%s\nlink set %s up\n",
		 first, port->address, port->device, strchr(port->address, ':') ? " nodad" : "",
		 port->device);
	return path_run_ip(batch);
}

int path_arrange(struct path *path, const struct path_wish *wish, struct path_facts *facts)
{
	int err;

	*path = (struct path)PATH_NONE;
	path->port = wish->port;
	path->home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (path->home_ns < 0)
		return -errno;
	snprintf(facts->kind, sizeof(facts->kind), "%s", wish->kind);
	err = kinds[kind_of(wish->kind)].arrange(path, wish);
	if (!err)
		err = switches_apply(path, wish, facts);
	if (path_leave(path))
		err = -errno;
	if (err && err != -ECANCELED)
		fprintf(stderr, "trace_run: cannot arrange path %s: %s\n", facts->kind,
			strerror(-err));
	return err;
}

int path_enter(const struct path *path, enum end end)
{
	return setns(path->ns[end], CLONE_NEWNET) ? -errno : 0;
}

int path_leave(const struct path *path)
{
	return setns(path->home_ns, CLONE_NEWNET) ? -errno : 0;
}

void path_dissolve(struct path *path)
{
	for (int i = 0; i < TAP_COUNT; i++)
		close(path->tap[i]);
	close(path->home_ns);
	if (path->ns[END_RECEIVER] != path->ns[END_SENDER])
		close(path->ns[END_RECEIVER]);
	close(path->ns[END_SENDER]);
	close(path->router_ns);
	guard_end(path);
}
