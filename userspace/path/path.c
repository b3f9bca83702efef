// SPDX-License-Identifier: GPL-2.0
/* Namespaces, iproute2 and device facts: what every kind of path is arranged with. */
#include "userspace/path/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *kind;
	int (*arrange)(struct path *path, const struct path_wish *wish, struct path_facts *facts);
} kinds[] = {
	{ "lo", path_lo },
	{ "veth", path_veth },
	{ "peer", path_peer },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

bool path_known(const char *kind)
{
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].kind, kind))
			return true;
	return false;
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

static uint32_t ethtool_flag(int fd, struct ifreq *request, uint32_t command)
{
	struct ethtool_value value = { .cmd = command };

	request->ifr_data = (char *)&value;
	return ioctl(fd, SIOCETHTOOL, request) ? 0 : value.data;
}

void path_read_device(const char *device, struct path_facts *facts)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = {};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (!ioctl(fd, SIOCGIFMTU, &request))
		facts->mtu = request.ifr_mtu;
	facts->scatter_gather = ethtool_flag(fd, &request, ETHTOOL_GSG);
	facts->tso = ethtool_flag(fd, &request, ETHTOOL_GTSO);
	/* lo and veth hang on no bus: what leaves them is a pointer, not a DMA transfer. */
	request.ifr_data = (char *)&driver;
	facts->hardware_dma = !ioctl(fd, SIOCETHTOOL, &request) && *driver.bus_info &&
			      strcmp(driver.bus_info, "N/A");
	close(fd);
}

int path_arrange(struct path *path, const struct path_wish *wish, struct path_facts *facts)
{
	int err = -EINVAL;

	path->ns[END_SENDER] = path->ns[END_RECEIVER] = -1;
	path->home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (path->home_ns < 0)
		return -errno;
	path->port = wish->port;
	snprintf(facts->kind, sizeof(facts->kind), "%s", wish->kind);
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].kind, wish->kind))
			err = kinds[i].arrange(path, wish, facts);
	if (path_leave(path))
		err = -errno;
	if (err)
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
	close(path->home_ns);
	if (path->ns[END_RECEIVER] != path->ns[END_SENDER])
		close(path->ns[END_RECEIVER]);
	close(path->ns[END_SENDER]);
}
