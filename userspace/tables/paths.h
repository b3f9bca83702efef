/* SPDX-License-Identifier: GPL-2.0 */
/* The table of paths: what lies between the two sockets. */
#ifndef COPYSCOPE_PATHS_H
#define COPYSCOPE_PATHS_H

#include "userspace/tables/rows.h"

/* What the rest of the program does differently for a path. */
enum path_trait {
	PATH_PLAIN = 0,
	PATH_ONE_DEVICE = 1,	/* both ends share a namespace, its loopback device and an address */
	PATH_NICS = 2,		/* it borrows two idle NICs of this machine */
	PATH_ROUTED = 4,	/* a router lies between: four addresses, which the run makes itself */
	PATH_TWO_HOSTS = 8,	/* one end is on another host; nothing is arranged here */
};

/* X(symbol, name, traits, meaning): userspace/path/SYMBOL.c arranges it. */
#define PATHS(X)                                                                              \
	X(lo, "lo", PATH_ONE_DEVICE, "one private namespace and its loopback device")         \
	X(veth, "veth", PATH_PLAIN,                                                           \
	  "two private namespaces and a veth pair (default)")                                 \
	X(nic, "nic", PATH_NICS,                                                              \
	  "two idle NICs of this machine, moved into a namespace each")                       \
	X(forward, "forward", PATH_NICS | PATH_ROUTED,                                        \
	  "veth to a router's namespace, out of one NIC, in by the other")                    \
	X(peer, "peer", PATH_TWO_HOSTS, "two hosts: the other one is --host, by ssh")

#define PATH_ENUM(symbol, name, traits, meaning) PATH_##symbol,
enum path_id { PATHS(PATH_ENUM) PATH_COUNT };
#undef PATH_ENUM

extern const struct table_row path_rows[PATH_COUNT];

/* The number of a path, or -1. */
int path_find(const char *name);

/* True if @name is a path that has all of @traits. */
bool path_has(const char *name, unsigned int traits);

#endif
