// SPDX-License-Identifier: GPL-2.0
/* Path veth: two private namespaces joined by a pair of virtual devices. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/path/path.h"

enum { BATCH_BYTES = 512, PREFIX_BITS_OF_RUN = 30 };

/* One end as it is to be: named by ip(8). */
struct veth_end {
	const char *device;
	char address[ADDRESS_BYTES + 8];	/* with /bits */
};

/* A /30 of 10.0.0.0/8 for each of the 2^22 pids there can be. */
static void address_of_run(enum end end, char *text, size_t size)
{
	unsigned int pid = getpid();

	snprintf(text, size, "10.%u.%u.%u", pid >> 14 & 255, pid >> 6 & 255,
		 (pid & 63) * 4 + 1 + end);
}

static void decide(const struct path_wish *wish, enum end end, struct veth_end *decided, char *address)
{
	static const char *const devices[] = { "tx0", "rx0" };
	bool wished = *wish->address[END_SENDER];

	decided->device = *wish->device[end] ? wish->device[end] : devices[end];
	if (wished)
		snprintf(address, ADDRESS_BYTES, "%s", wish->address[end]);
	else
		address_of_run(end, address, ADDRESS_BYTES);
	snprintf(decided->address, sizeof(decided->address), "%s/%d", address,
		 wished ? wish->prefix_bits : PREFIX_BITS_OF_RUN);
}

/* Duplicate address detection would keep an IPv6 address unusable for a second. */
static int add_address(const struct veth_end *end, const char *first)
{
	char batch[BATCH_BYTES];

	snprintf(batch, sizeof(batch), "link set lo up\n%saddr add %s dev %s%s\nlink set %s up\n", first,
		 end->address, end->device, strchr(end->address, ':') ? " nodad" : "", end->device);
	return path_run_ip(batch);
}

int path_veth(struct path *path, const struct path_wish *wish, struct path_facts *facts)
{
	char pair[BATCH_BYTES / 2], other[ADDRESS_BYTES];
	int err = path_new_namespace(&path->ns[END_SENDER]);
	struct veth_end tx, rx;

	if (!err)
		err = path_new_namespace(&path->ns[END_RECEIVER]);
	if (err)
		return err;
	decide(wish, END_SENDER, &tx, path->address);
	decide(wish, END_RECEIVER, &rx, other);

	/* ip must inherit the descriptor to name the other namespace by it. */
	fcntl(path->ns[END_SENDER], F_SETFD, 0);
	snprintf(pair, sizeof(pair), "link add %s type veth peer name %s netns /proc/self/fd/%d\n",
		 rx.device, tx.device, path->ns[END_SENDER]);
	err = add_address(&rx, pair);
	fcntl(path->ns[END_SENDER], F_SETFD, FD_CLOEXEC);
	if (!err)
		err = path_enter(path, END_SENDER);
	if (!err)
		err = add_address(&tx, "");
	snprintf(facts->tx_dev, sizeof(facts->tx_dev), "%s", tx.device);
	snprintf(facts->rx_dev, sizeof(facts->rx_dev), "%s", rx.device);
	path_read_device(tx.device, facts);
	return err;
}
