// SPDX-License-Identifier: GPL-2.0
/* Path lo: both sockets in one private namespace, over its loopback device. */
#include <stdio.h>
#include <unistd.h>

#include "userspace/path/path.h"

int path_lo(struct path *path, struct path_facts *facts)
{
	unsigned int pid = getpid();
	int err = path_new_namespace(&path->ns[END_SENDER]);

	if (err)
		return err;
	path->ns[END_RECEIVER] = path->ns[END_SENDER];
	err = path_run_ip("link set lo up\n");
	if (err)
		return err;
	snprintf(path->address, sizeof(path->address), "127.%u.%u.%u", 1 + (pid >> 16 & 63),
		 pid >> 8 & 255, pid & 255);
	snprintf(facts->tx_dev, sizeof(facts->tx_dev), "lo");
	snprintf(facts->rx_dev, sizeof(facts->rx_dev), "lo");
	path_read_device("lo", facts);
	return 0;
}
