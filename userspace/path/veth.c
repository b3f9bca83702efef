// SPDX-License-Identifier: GPL-2.0
/* Path veth: two private namespaces joined by a pair of virtual devices. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "userspace/path/path.h"

enum { BATCH_BYTES = 512 };

/* A /30 of 10.0.0.0/8 for each of the 2^22 pids there can be. */
static void address_of_run(enum end end, char *text, size_t size)
{
	unsigned int pid = getpid();

	snprintf(text, size, "10.%u.%u.%u", pid >> 14 & 255, pid >> 6 & 255,
		 (pid & 63) * 4 + 1 + end);
}

int path_veth(struct path *path, struct path_facts *facts)
{
	char batch[BATCH_BYTES], tx[ADDRESS_BYTES], rx[ADDRESS_BYTES];
	int err = path_new_namespace(&path->ns[END_SENDER]);

	if (!err)
		err = path_new_namespace(&path->ns[END_RECEIVER]);
	if (err)
		return err;
	address_of_run(END_SENDER, tx, sizeof(tx));
	address_of_run(END_RECEIVER, rx, sizeof(rx));

	/* ip must inherit the descriptor to name the other namespace by it. */
	fcntl(path->ns[END_SENDER], F_SETFD, 0);
	snprintf(batch, sizeof(batch),
		 "link set lo up\n"
		 "link add rx0 type veth peer name tx0 netns /proc/self/fd/%d\n"
		 "addr add %s/30 dev rx0\nlink set rx0 up\n", path->ns[END_SENDER], rx);
	err = path_run_ip(batch);
	fcntl(path->ns[END_SENDER], F_SETFD, FD_CLOEXEC);
	if (err)
		return err;

	err = path_enter(path, END_SENDER);
	if (err)
		return err;
	snprintf(batch, sizeof(batch), "link set lo up\naddr add %s/30 dev tx0\nlink set tx0 up\n",
		 tx);
	err = path_run_ip(batch);
	snprintf(path->address, sizeof(path->address), "%s", tx);
	snprintf(facts->tx_dev, sizeof(facts->tx_dev), "tx0");
	snprintf(facts->rx_dev, sizeof(facts->rx_dev), "rx0");
	path_read_device("tx0", facts);
	return err;
}
