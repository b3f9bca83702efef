/* SPDX-License-Identifier: GPL-2.0 */
/* A run that another host asked for ends with the connection. */
#ifndef COPYSCOPE_COLLECTOR_GUARD_H
#define COPYSCOPE_COLLECTOR_GUARD_H

/*
 * Calls @make in a child process. When stdin ends, or nothing comes from it for a minute, the child gets SIGINT, and
 * SIGKILL if it does not end then. Returns its exit status.
 */
int guard_until_eof(int (*make)(int argc, char **argv), int argc, char **argv);

#endif
