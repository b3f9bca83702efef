// SPDX-License-Identifier: GPL-2.0
/* The kinds of path: checked before anything is touched, arranged, dissolved. */
#include "userspace/path/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/path/parts.h"

static const struct {
	const char *kind;
	int (*check)(const struct path_wish *wish);
	int (*arrange)(struct path *path, const struct path_wish *wish);
} kinds[] = {
	{ "lo", NULL, path_lo },
	{ "veth", NULL, path_veth },
	{ "nic", nics_check, path_nic },
	{ "forward", nics_check, path_forward },
	{ "peer", NULL, path_peer },
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static int kind_of(const char *kind)
{
	for (int i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].kind, kind))
			return i;
	return -1;
}

bool path_known(const char *kind)
{
	return kind_of(kind) >= 0;
}

bool path_captures(const struct path_wish *wish)
{
	return wish->tap[TAP_TX] || wish->tap[TAP_RX] || wish->tap[TAP_OTHER];
}

int path_check(const struct path_wish *wish)
{
	int kind = kind_of(wish->kind);
	int err = kinds[kind].check ? kinds[kind].check(wish) : 0;

	return err ? err : switches_check(wish);
}

int path_arrange(struct path *path, const struct path_wish *wish, struct path_facts *facts)
{
	int err;

	*path = (struct path)PATH_NONE;
	path->port = wish->port;
	path->home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (path->home_ns < 0)
		return -errno;
	snprintf(facts->kind, sizeof(facts->kind), "%s", wish->kind);
	err = kinds[kind_of(wish->kind)].arrange(path, wish);
	if (!err)
		err = switches_apply(path, wish, facts);
	if (path_leave(path))
		err = -errno;
	if (err && err != -ECANCELED)
		fprintf(stderr, "trace_run: cannot arrange path %s: %s\n", facts->kind,
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
	guard_end(path);
}
