/* SPDX-License-Identifier: GPL-2.0 */
/* What the user requests of a path, and a path that was arranged, as plain data. */
#ifndef COPYSCOPE_PATH_TYPES_H
#define COPYSCOPE_PATH_TYPES_H

#include <net/if.h>
#include <stdint.h>
#include <sys/types.h>

#include "userspace/path/path_info.h"

/* The most words of a command in place of ssh. */
enum { SSH_WORDS_MAX = 32 };

/* Path peer: the other half of the run, and which end is here. */
struct path_partner {
	const char *host;	/* where ssh starts the far half; NULL: this is it, or none */
	char *const *ssh;	/* the words of the command that reaches it */
	const char *far;	/* what a shell starts there as trace_run */
	const char *connection;	/* the far half alone: SSH_CONNECTION of its host */
	enum end here;
	bool given;		/* one of these options was */
};

/* What the user requested; empty or 0 where the run chooses. */
struct path_request {
	const char *kind;
	char address[END_COUNT][ADDRESS_BYTES];
	int prefix_bits;
	char device[END_COUNT][IFNAMSIZ];
	int port;
	struct path_partner partner;
	bool tap[TAP_COUNT];
	bool no_sg;
	bool no_tso;
	bool ipv6;
	int mtu;
	char netem[QDISC_BYTES];
	char qdisc[QDISC_BYTES];
};

enum { PATH_DEVICES = 4, PATH_BATCH_BYTES = 512 };

/* One interface of the path, in the namespace that it was put into. */
struct path_device {
	int ns;
	char name[IFNAMSIZ];
	bool sends;			/* payload leaves by it */
};

struct path {
	int home_ns;			/* where the tool itself lives */
	int ns[END_COUNT];		/* descriptors; the same namespace twice on lo; -1 for
					 * an end on another host */
	int router_ns;			/* between them on forward, else -1 */
	struct path_device device[PATH_DEVICES];	/* the sender's first */
	int device_count;
	int tap[TAP_COUNT];		/* capturing sockets, else -1 */
	pid_t nic_restore_pid;		/* gives borrowed NICs back; 0: none was borrowed */
	int nic_restore_pipe;
	char address[ADDRESS_BYTES];	/* the sender listens here */
	char from[ADDRESS_BYTES];	/* accepts only this client address; "": any */
	int port;
};

/* A path that was never arranged; dissolving it does nothing. */
#define PATH_NONE { .home_ns = -1, .ns = { -1, -1 }, .router_ns = -1, .tap = { -1, -1, -1 } }

#endif
