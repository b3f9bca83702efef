// SPDX-License-Identifier: GPL-2.0
/* Path peer: one end here, in the namespace that the user stands in, the other on another host. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "userspace/path/path.h"

int path_peer(struct path *path, const struct path_wish *wish, struct path_facts *facts)
{
	enum end here = wish->partner.here, there = END_COUNT - 1 - here;
	char *device = here == END_SENDER ? facts->tx_dev : facts->rx_dev;
	char name[IFNAMSIZ];
	int err;

	path->ns[here] = fcntl(path->home_ns, F_DUPFD_CLOEXEC, 0);
	if (path->ns[here] < 0)
		return -errno;
	snprintf(path->address, sizeof(path->address), "%s", wish->address[END_SENDER]);
	err = path_route_device(wish->address[there], name);
	if (err)
		return err;
	snprintf(device, sizeof(facts->tx_dev), "%s", name);
	path_read_device(name, facts);
	return 0;
}
