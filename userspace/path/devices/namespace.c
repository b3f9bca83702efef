// SPDX-License-Identifier: GPL-2.0
/* What all paths use: namespaces to enter, and devices to set up in them. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/path/parts.h"
#include "userspace/path/path.h"

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
