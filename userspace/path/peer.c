// SPDX-License-Identifier: GPL-2.0
/* Path peer: one end here, in the namespace of the user's shell, the other on another host. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "userspace/path/parts.h"
#include "userspace/path/path.h"

int path_peer(struct path *path, const struct path_request *request)
{
	enum end here = request->partner.here, there = END_COUNT - 1 - here;
	char device[IFNAMSIZ];
	int err;

	path->ns[here] = fcntl(path->home_ns, F_DUPFD_CLOEXEC, 0);
	if (path->ns[here] < 0)
		return -errno;
	snprintf(path->address, sizeof(path->address), "%s", request->address[END_SENDER]);
	snprintf(path->from, sizeof(path->from), "%s", request->address[END_RECEIVER]);
	err = path_route_device(request->address[there], device);
	/* The receiver's requests leave by it, too. */
	if (!err)
		path_add_device(path, path->ns[here], device, true);
	return err;
}
