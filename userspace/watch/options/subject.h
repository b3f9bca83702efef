/* SPDX-License-Identifier: GPL-2.0 */
/* Whose sockets a watch is about, as the user named them and as the programs know them; names of cgroups. */
#ifndef COPYSCOPE_WATCH_OPTIONS_SUBJECT_H
#define COPYSCOPE_WATCH_OPTIONS_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "userspace/record/watch_record.h"

/* What names it: of several kinds each must fit, of one kind anything that was named. */
enum watch_by {
	WATCH_PIDS,	/* processes, and what they started and start */
	WATCH_COMM,	/* processes with such a name, now and later */
	WATCH_CGROUP,	/* processes in such a cgroup and below */
	WATCH_NETNS,	/* all sockets of a process's network namespace */
	WATCH_PORTS,	/* sockets with one of these ports at either end */
	WATCH_ALL,	/* every socket, the kernel's own as well */
};

/* GENERATIONS_MOST: of children of children. */
enum { WATCH_PIDS_MAX = 64, WATCH_NAMESPACES_MAX = 512, GENERATIONS_MOST = 32 };

/* Cgroups as asked: a folder of version 2 each, or its path below the mount. */
struct watch_folders {
	char path[SUBJECT_CGROUPS][WATCH_PATH_BYTES];
	int count;
};

struct watch_subject {
	unsigned int kinds;	/* a bit for each that was named, as asked */
	enum watch_by by;	/* the first of them: up to WATCH_CGROUP processes are the subject, else sockets are */
	pid_t pids[WATCH_PIDS_MAX];	/* as this PID namespace numbers them; WATCH_NETNS: the first */
	int pid_count;
	bool childless;			/* without what these started and start */
	struct subject_names named, left_out;	/* cgroups: as found by watch_subject_resolve */
	struct watch_folders folders, folders_left_out;
	/* As found by watch_subject_resolve. */
	uint32_t netns[WATCH_NAMESPACES_MAX];	/* inode numbers */
	int netns_fds[WATCH_NAMESPACES_MAX];	/* owned */
	int netns_count, netns_most;
	bool netns_short;		/* there were more, or one could not be opened */
};

/* Are sockets the subject, but those of the processes that .left_out names? */
static inline bool watch_leaves_processes_out(const struct watch_subject *s)
{
	return s->by > WATCH_CGROUP && (s->left_out.comm_count || s->left_out.cgroup_count);
}

/* Finds processes and opens their network namespaces. 0, or -errno with one line in @why. */
int watch_subject_resolve(struct watch_subject *s, char why[WHY_BYTES]);

/* Closes the namespaces; a zeroed subject is accepted. */
void watch_subject_close(struct watch_subject *s);

/* All cgroups that there are now, in the order of their numbers, each by its path below the mount; the
 * caller's to free. How many. */
int watch_cgroups_list(struct watch_cgroup **list);

#endif
