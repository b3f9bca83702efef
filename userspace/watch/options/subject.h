/* SPDX-License-Identifier: GPL-2.0 */
/* Whose sockets a watch is about, as the user named them and as the programs know them; names of cgroups. */
#ifndef COPYSCOPE_WATCH_OPTIONS_SUBJECT_H
#define COPYSCOPE_WATCH_OPTIONS_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "userspace/record/watch_record.h"

enum watch_by {
	WATCH_PIDS,	/* processes, and their children from now on */
	WATCH_COMM,	/* processes with that name, now and later */
	WATCH_CGROUP,	/* processes in that cgroup and below */
	WATCH_NETNS,	/* all sockets of a process's network namespace */
	WATCH_PORTS,	/* sockets with one of these ports at either end */
	WATCH_ALL,	/* every socket, the kernel's own as well */
};

enum { WATCH_PIDS_MAX = 64, WATCH_PORTS_MAX = 32, WATCH_NAMESPACES_MAX = 512 };

struct watch_subject {
	enum watch_by by;
	/* As asked. */
	pid_t pids[WATCH_PIDS_MAX];	/* as this PID namespace numbers them; WATCH_NETNS: the first */
	int pid_count;
	char comm[WATCH_COMM_BYTES];
	char cgroup[WATCH_PATH_BYTES];	/* a folder of cgroup version 2, or its path below the mount */
	uint16_t ports[WATCH_PORTS_MAX];
	int port_count;
	/* As found by watch_subject_resolve. */
	uint64_t cgroup_id;
	int cgroup_level;		/* how deep it lies: the root has 0 */
	uint32_t netns[WATCH_NAMESPACES_MAX];	/* inode numbers */
	int netns_fds[WATCH_NAMESPACES_MAX];	/* owned */
	int netns_count, netns_most;
	bool netns_short;		/* there were more, or one could not be opened */
};

/* Finds processes and opens their network namespaces. 0, or -errno with one line in @why. */
int watch_subject_resolve(struct watch_subject *s, char why[WHY_BYTES]);

/* Closes the namespaces; a zeroed subject is accepted. */
void watch_subject_close(struct watch_subject *s);

/* All cgroups that there are now, in the order of their numbers, each by its path below the mount; the
 * caller's to free. How many. */
int watch_cgroups_list(struct watch_cgroup **list);

#endif
