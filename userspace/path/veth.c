// SPDX-License-Identifier: GPL-2.0
/* Path veth: two private namespaces joined by a pair of virtual devices. */
#include <stdio.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/path/parts.h"
#include "userspace/path/path.h"

static const char *name_of(const struct path_request *request, enum end end)
{
	static const char *const names[] = { "tx0", "rx0" };

	return *request->device[end] ? request->device[end] : names[end];
}

int path_veth(struct path *path, const struct path_request *request)
{
	struct path_port tx = { .device = name_of(request, END_SENDER) };
	struct path_port rx = { .device = name_of(request, END_RECEIVER) };
	char pair[PATH_BATCH_BYTES / 2];
	int err = net_namespace_new(&path->ns[END_SENDER]);

	if (!err)
		err = net_namespace_new(&path->ns[END_RECEIVER]);
	if (err)
		return err;
	path_address(request, LINK_SENDER, END_SENDER, &tx, path->address);
	path_address(request, LINK_SENDER, END_RECEIVER, &rx, NULL);

	snprintf(pair, sizeof(pair), "link add %s type veth peer name %s netns /proc/self/fd/%d\n",
		 rx.device, tx.device, path->ns[END_SENDER]);
	err = path_set_up(&rx, pair, path->ns[END_SENDER]);
	if (!err)
		err = path_enter(path, END_SENDER);
	path_add_device(path, path->ns[END_SENDER], tx.device, true);
	path_add_device(path, path->ns[END_RECEIVER], rx.device, false);
	return err ? err : path_set_up(&tx, "", -1);
}
