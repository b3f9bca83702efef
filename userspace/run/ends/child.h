/* SPDX-License-Identifier: GPL-2.0 */
/* One end of the workload as the process that started it knows it. */
#ifndef COPYSCOPE_CHILD_H
#define COPYSCOPE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct child {
	pid_t pid;	/* 0: that end is on another host */
	clockid_t clock;	/* of the processor time that it used */
	int64_t prepared_ns;	/* of that time, until it was released */
	int64_t used_ns;	/* of it since then, with its own children; known once it has ended */
	uint32_t tgid;	/* by which BPF programs know it; 0 if the kernel does not return it */
	uint32_t netns;	/* inode number of its network namespace, by which the kernel knows it too */
	int ready;	/* it writes a line here when it can be released */
	int go;		/* one byte here releases it */
	int out;	/* its totals, as JSON */
	char *text;	/* what it printed so far; owned */
	size_t length;
	int status;	/* of waitpid, once collected */
	bool ended;
	bool hurried;	/* it did not end by itself, and was ended */
	bool decides;	/* when to stop; an interrupt goes to it first */
};

#endif
