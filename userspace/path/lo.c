// SPDX-License-Identifier: GPL-2.0
/* Path lo: both sockets in one private namespace, over its loopback device. */
#include <stdio.h>
#include <string.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/common/system/process_numbers.h"
#include "userspace/path/parts.h"

/* All of 127.0.0.0/8 is there as soon as the device is up; of IPv6 ::1 alone. */
static void address_of_run(const struct path_request *request, char *text)
{
	unsigned int run = run_number();
	struct path_port unused;

	if (request->ipv6)
		path_address(request, LINK_SENDER, END_SENDER, &unused, text);
	else
		snprintf(text, ADDRESS_BYTES, "127.%u.%u.%u", 1 + (run >> 16 & 63), run >> 8 & 255,
			 run & 255);
}

int path_lo(struct path *path, const struct path_request *request)
{
	const char *requested = request->address[END_SENDER];
	char batch[PATH_BATCH_BYTES];
	int err = net_namespace_new(&path->ns[END_SENDER]);

	if (err)
		return err;
	path->ns[END_RECEIVER] = path->ns[END_SENDER];
	if (*requested)
		snprintf(path->address, sizeof(path->address), "%s", requested);
	else
		address_of_run(request, path->address);
	if (!strncmp(path->address, "127.", 4) || !strcmp(path->address, "::1"))
		snprintf(batch, sizeof(batch), "link set lo up\n");
	else
		snprintf(batch, sizeof(batch), "link set lo up\naddr add %s dev lo%s\n", path->address,
			 strchr(path->address, ':') ? " nodad" : "");
	path_add_device(path, path->ns[END_SENDER], "lo", true);
	return net_namespace_run_ip(batch, NULL, 0);
}
