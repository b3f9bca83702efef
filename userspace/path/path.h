/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies between the two sockets: private network namespaces that no one else can see.
 *
 * No namespace gets a name, so each dies with its last process: killing the run in any way
 * leaves neither namespace nor interface. Addresses are made from the run's pid unless the user
 * gives some, so that the flows of two runs on one machine do not look alike.
 */
#ifndef COPYSCOPE_PATH_H
#define COPYSCOPE_PATH_H

#include <net/if.h>
#include <sys/types.h>

#include "userspace/trace/record.h"

/* Path peer: where this host waits for the other one, or where it finds it. */
struct path_partner {
	bool listen, connect;
	char address[ADDRESS_BYTES];
	int port;
	enum end here;		/* the end that this host is */
	bool role_given;
};

/* What the user asked for; empty or 0 where the run makes its own. */
struct path_wish {
	const char *kind;
	char address[END_COUNT][ADDRESS_BYTES];
	int prefix_bits;
	char device[END_COUNT][IFNAMSIZ];
	int port;
	bool port_given;
	struct path_partner partner;
};

struct path {
	int home_ns;			/* where the tool itself lives */
	int ns[END_COUNT];		/* descriptors; the same namespace twice on lo; -1 for
					 * an end on another host */
	char address[ADDRESS_BYTES];	/* the sender listens here */
	int port;
};

/* True if the kind is one that this build can arrange. */
bool path_known(const char *kind);

/*
 * Makes namespaces, devices and addresses as wished and fills in the facts. Returns 0, or -errno
 * with one line printed.
 */
int path_arrange(struct path *path, const struct path_wish *wish, struct path_facts *facts);

/* Moves the calling (single-threaded) process into the namespace of one end, or home again. */
int path_enter(const struct path *path, enum end end);
int path_leave(const struct path *path);

/* Closes the descriptors; the namespaces end with their last process. */
void path_dissolve(struct path *path);

/* Each file of this folder that arranges a path. */
int path_lo(struct path *path, const struct path_wish *wish, struct path_facts *facts);
int path_veth(struct path *path, const struct path_wish *wish, struct path_facts *facts);
int path_peer(struct path *path, const struct path_wish *wish, struct path_facts *facts);

/* Shared by them. */
int path_new_namespace(int *ns);
int path_run_ip(const char *batch);
void path_read_device(const char *device, struct path_facts *facts);
/* The device that packets to a numeric address leave by, in the current namespace. 0 or -errno. */
int path_route_device(const char *address, char device[IFNAMSIZ]);

#endif
