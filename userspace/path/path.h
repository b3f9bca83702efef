/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies between the two sockets: private network namespaces that no one else can see.
 *
 * No namespace gets a name, so each dies with its last process: after a kill of any kind neither
 * namespace nor interface is left, and a borrowed NIC is moved back as it was. Addresses are made
 * from the run's number unless the user gives some, so that the flows of two runs on one machine
 * differ, in whatever PID namespaces they run.
 */
#ifndef COPYSCOPE_PATH_H
#define COPYSCOPE_PATH_H

#include "userspace/path/path_types.h"

/* True if packets are to be captured somewhere. */
bool path_packet_taps(const struct path_request *request);

/*
 * Checks whether this system can fulfil the request, before anything is touched: 0, -EINVAL for a
 * request that makes no sense, another -errno for a system that refuses; one line printed.
 */
int path_check(const struct path_request *request);

/*
 * Makes namespaces, devices and addresses as requested and fills in the facts. Returns 0, or -errno
 * with one line printed.
 */
int path_arrange(struct path *path, const struct path_request *request, struct path_info *info);

/* Moves the calling (single-threaded) process into the namespace of one end, or home again. */
int path_enter(const struct path *path, enum end end);
int path_leave(const struct path *path);

/* Closes the descriptors; the namespaces end with their last process; waits for borrowed NICs. */
void path_dissolve(struct path *path);

/* The device through which packets to a numeric address leave, in the current namespace. 0 or
 * -errno. */
int path_route_device(const char *address, char device[IFNAMSIZ]);

#endif
