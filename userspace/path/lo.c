// SPDX-License-Identifier: GPL-2.0
/* Path lo: both sockets in one private namespace, over its loopback device. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/path/path.h"

enum { BATCH_BYTES = 256 };

static void address_of_run(char *text, size_t size)
{
	unsigned int pid = getpid();

	snprintf(text, size, "127.%u.%u.%u", 1 + (pid >> 16 & 63), pid >> 8 & 255, pid & 255);
}

int path_lo(struct path *path, const struct path_wish *wish, struct path_facts *facts)
{
	const char *wished = wish->address[END_SENDER];
	char batch[BATCH_BYTES];
	int err = path_new_namespace(&path->ns[END_SENDER]);

	if (err)
		return err;
	path->ns[END_RECEIVER] = path->ns[END_SENDER];
	if (*wished)
		snprintf(path->address, sizeof(path->address), "%s", wished);
	else
		address_of_run(path->address, sizeof(path->address));
	/* 127.0.0.0/8 and ::1 are there as soon as the device is up. */
	if (!strncmp(path->address, "127.", 4) || !strcmp(path->address, "::1"))
		snprintf(batch, sizeof(batch), "link set lo up\n");
	else
		snprintf(batch, sizeof(batch), "link set lo up\naddr add %s dev lo%s\n", path->address,
			 strchr(path->address, ':') ? " nodad" : "");
	err = path_run_ip(batch);
	if (err)
		return err;
	snprintf(facts->tx_dev, sizeof(facts->tx_dev), "lo");
	snprintf(facts->rx_dev, sizeof(facts->rx_dev), "lo");
	path_read_device("lo", facts);
	return 0;
}
