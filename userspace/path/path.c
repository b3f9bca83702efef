// SPDX-License-Identifier: GPL-2.0
/* The kinds of path: checked before anything is touched, arranged, dissolved. */
#include "userspace/path/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/path/parts.h"

bool path_packet_taps(const struct path_request *request)
{
	return request->tap[TAP_TX] || request->tap[TAP_RX] || request->tap[TAP_OTHER];
}

int path_check(const struct path_request *request)
{
	int err = path_has(request->kind, PATH_NICS) ? nics_check(request) : 0;

	return err ? err : switches_check(request);
}

static int arrange(struct path *path, const struct path_request *request)
{
#define ARRANGE(symbol, name, traits, meaning) [PATH_##symbol] = path_##symbol,
	static int (*const arrangers[])(struct path *, const struct path_request *) = {
		PATHS(ARRANGE)
	};
#undef ARRANGE

	return arrangers[path_find(request->kind)](path, request);
}

int path_arrange(struct path *path, const struct path_request *request, struct path_info *info)
{
	int err;

	*path = (struct path)PATH_NONE;
	path->port = request->port;
	path->home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (path->home_ns < 0)
		return -errno;
	snprintf(info->kind, sizeof(info->kind), "%s", request->kind);
	err = arrange(path, request);
	if (!err)
		err = switches_apply(path, request, info);
	if (path_leave(path))
		err = -errno;
	if (err && err != -ECANCELED)
		fprintf(stderr, "trace_run: cannot arrange path %s: %s\n", info->kind,
			err == -ENOSPC ? "no more network namespaces are allowed: raise "
					 "user.max_net_namespaces with sysctl(8)" : strerror(-err));
	return err;
}

void path_dissolve(struct path *path)
{
	for (int i = 0; i < TAP_COUNT; i++)
		close(path->tap[i]);
	close(path->home_ns);
	if (path->ns[END_RECEIVER] != path->ns[END_SENDER])
		close(path->ns[END_RECEIVER]);
	close(path->ns[END_SENDER]);
	close(path->router_ns);
	nic_restore_end(path);
}
