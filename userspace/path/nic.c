// SPDX-License-Identifier: GPL-2.0
/* Path nic: two NICs of this machine in two private namespaces, connected outside of it. */
#include <stddef.h>

#include "userspace/common/system/net_namespace.h"
#include "userspace/path/parts.h"
#include "userspace/path/path.h"

int path_nic(struct path *path, const struct path_request *request)
{
	char name[END_COUNT][IFNAMSIZ];
	struct path_port port[END_COUNT] = { { .device = name[END_SENDER] },
					     { .device = name[END_RECEIVER] } };
	int err = nics_choose(request, name);

	for (int e = 0; e < END_COUNT && !err; e++)
		err = net_namespace_new(&path->ns[e]);
	if (!err)
		err = path_leave(path);
	if (!err)
		err = nic_restore_start(path, name, path->ns);
	if (!err)
		err = nics_move(name, path->ns);
	for (int e = 0; e < END_COUNT && !err; e++) {
		path_address(request, LINK_SENDER, e, &port[e], e == END_SENDER ? path->address : NULL);
		path_add_device(path, path->ns[e], name[e], e == END_SENDER);
		err = path_enter(path, e);
		if (!err)
			err = path_set_up(&port[e], "", -1);
	}
	return err;
}
