// SPDX-License-Identifier: GPL-2.0
/* Path forward: veth to a router's namespace, out of one NIC, in by another at the receiver. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/path/parts.h"
#include "userspace/path/path.h"

/* The sender's device and the router's end of it. */
static const char inner[] = "tx0", outer[] = "up0";

static int switch_on(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

/* Sets @port up and sends everything that is not on its link by way of @router. */
static int set_up_leaf(const struct path_port *port, const char *router)
{
	char route[PATH_BATCH_BYTES / 2];
	int err = path_set_up(port, "", -1);

	snprintf(route, sizeof(route), "route add default via %s\n", router);
	return err ? err : net_namespace_run_ip(route, NULL, 0);
}

/* In the router's namespace: its end of the veth, and the NIC. */
static int set_up_router(struct path *path, const struct path_port *up, const struct path_port *out,
			 bool ipv6)
{
	char pair[PATH_BATCH_BYTES / 2];
	int err;

	snprintf(pair, sizeof(pair), "link add %s type veth peer name %s netns /proc/self/fd/%d\n",
		 outer, inner, path->ns[END_SENDER]);
	err = path_set_up(up, pair, path->ns[END_SENDER]);
	if (!err)
		err = path_set_up(out, "", -1);
	return err ? err : switch_on(ipv6 ? "/proc/sys/net/ipv6/conf/all/forwarding"
					  : "/proc/sys/net/ipv4/ip_forward");
}

static int make_namespaces(struct path *path)
{
	int err = net_namespace_new(&path->ns[END_SENDER]);

	if (!err)
		err = net_namespace_new(&path->ns[END_RECEIVER]);
	if (!err)
		err = net_namespace_new(&path->router_ns);
	return err ? err : path_leave(path);
}

int path_forward(struct path *path, const struct path_request *request)
{
	char name[END_COUNT][IFNAMSIZ], router[END_COUNT][ADDRESS_BYTES];
	struct path_port tx = { .device = inner }, up = { .device = outer };
	struct path_port out = { .device = name[END_SENDER] }, rx = { .device = name[END_RECEIVER] };
	int err = nics_choose(request, name), lent_to[END_COUNT];

	path_address(request, LINK_SENDER, END_SENDER, &tx, path->address);
	path_address(request, LINK_SENDER, END_RECEIVER, &up, router[END_SENDER]);
	path_address(request, LINK_RECEIVER, END_SENDER, &out, router[END_RECEIVER]);
	path_address(request, LINK_RECEIVER, END_RECEIVER, &rx, NULL);
	if (!err)
		err = make_namespaces(path);
	lent_to[END_SENDER] = path->router_ns;
	lent_to[END_RECEIVER] = path->ns[END_RECEIVER];
	if (!err)
		err = nic_restore_start(path, name, lent_to);
	if (!err)
		err = nics_move(name, lent_to);
	if (err)
		return err;
	path_add_device(path, path->ns[END_SENDER], inner, true);
	path_add_device(path, path->router_ns, outer, false);
	path_add_device(path, path->router_ns, name[END_SENDER], true);
	path_add_device(path, path->ns[END_RECEIVER], name[END_RECEIVER], false);
	if (setns(path->router_ns, CLONE_NEWNET))
		return -errno;
	err = set_up_router(path, &up, &out, request->ipv6);
	if (!err)
		err = path_enter(path, END_SENDER);
	if (!err)
		err = set_up_leaf(&tx, router[END_SENDER]);
	if (!err)
		err = path_enter(path, END_RECEIVER);
	return err ? err : set_up_leaf(&rx, router[END_RECEIVER]);
}
