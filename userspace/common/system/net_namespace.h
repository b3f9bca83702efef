/* SPDX-License-Identifier: GPL-2.0 */
/* Makes nameless network namespaces, and sets them up with ip(8). */
#ifndef COPYSCOPE_NET_NAMESPACE_H
#define COPYSCOPE_NET_NAMESPACE_H

/*
 * Moves the calling process, which must have one thread, into a new network namespace and opens a
 * descriptor of it in *ns: the namespace ends with the last process or descriptor. 0 or -errno.
 */
int net_namespace_new(int *ns);

/*
 * Feeds ip(8) with the lines of @batch in the current namespace. They may name the @count
 * descriptors in @named. 0 or -errno.
 */
int net_namespace_run_ip(const char *batch, const int *named, int count);

#endif
