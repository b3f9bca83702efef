/* SPDX-License-Identifier: GPL-2.0 */
/* Whose sockets are measured: all that the probes of a run know of it. */
#ifndef COPYSCOPE_SUBJECT_H
#define COPYSCOPE_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/include/sites.h"

struct subject {
	uint32_t tgid[SUBJECT_PROCESSES];	/* of its processes, as BPF programs see them */
	int processes;
	bool forks;			/* children of these belong to it, too */
	uint32_t netns[SUBJECT_PROCESSES];	/* inode numbers of their network namespaces */
	int namespaces;
	int sockets;			/* how many it may use at most */
	bool references;		/* it may request references to its pages */
	bool hardware_dma;		/* a device on their way may read pages itself */
	const char *usdt_path;		/* the program with the USDT probe; NULL: it has none */
	pid_t usdt_pid;			/* the process with it, as this PID namespace sees it */
};

#endif
