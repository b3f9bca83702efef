// SPDX-License-Identifier: GPL-2.0
/* The kinds of path: checked before anything is touched, arranged, dissolved. */
#include "userspace/path/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/path/parts.h"
#include "userspace/path/path_info.h"

bool path_packet_taps(const struct path_request *request)
{
	return request->tap[TAP_TX] || request->tap[TAP_RX] || request->tap[TAP_OTHER];
}

int path_check(const struct path_request *request)
{
	int err = path_has(request->kind, PATH_NICS) ? nics_check(request) : 0;

	return err ? err : switches_check(request);
}

static int arrange(struct path *path, const struct path_request *request)
{
#define ARRANGE(symbol, name, traits, meaning) [PATH_##symbol] = path_##symbol,
	static int (*const arrangers[])(struct path *, const struct path_request *) = {
		PATHS(ARRANGE)
	};
#undef ARRANGE

	return arrangers[path_find(request->kind)](path, request);
}

int path_arrange(struct path *path, const struct path_request *request, struct path_info *info)
{
	int err;

	*path = (struct path)PATH_NONE;
	path->port = request->port;
	path->home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (path->home_ns < 0)
		return -errno;
	snprintf(info->kind, sizeof(info->kind), "%s", request->kind);
	err = arrange(path, request);
	if (!err)
		err = switches_apply(path, request, info);
	if (path_leave(path))
		err = -errno;
	if (err && err != -ECANCELED)
		fprintf(stderr, "trace_run: cannot arrange path %s: %s\n", info->kind,
			err == -ENOSPC ? "no more network namespaces are allowed: raise "
					 "user.max_net_namespaces with sysctl(8)" : strerror(-err));
	return err;
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
	nic_restore_end(path);
}

/* What all paths use: namespaces to enter, and devices to set up in them. */

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
	return net_namespace_run_ip(batch, &named, named >= 0);
}

int path_enter(const struct path *path, enum end end)
{
	return setns(path->ns[end], CLONE_NEWNET) ? -errno : 0;
}

int path_leave(const struct path *path)
{
	return setns(path->home_ns, CLONE_NEWNET) ? -errno : 0;
}

/* Names of the places where a packet capture runs. */

const char *tap_name(enum tap tap)
{
	static const char *const names[] = { "tx", "rx", "other" };

	return names[tap];
}
