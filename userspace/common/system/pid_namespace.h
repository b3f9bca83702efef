/* SPDX-License-Identifier: GPL-2.0 */
/* Ensures that the calling process, its children and /proc mean the same process by a pid. */
#ifndef COPYSCOPE_PID_NAMESPACE_H
#define COPYSCOPE_PID_NAMESPACE_H

/*
 * If /proc/PID is another process than kill(PID) reaches, or if there is no /proc, mounts the right
 * one for this process and its children alone. Call it before a file is opened that will be named
 * by descriptor, and while there is one thread. 0, or -errno after a line that begins with
 * @program: /proc cannot be mounted, or children would be in another PID namespace.
 */
int pid_namespace_settle(const char *program);

#endif
