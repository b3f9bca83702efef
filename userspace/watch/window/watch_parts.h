/* SPDX-License-Identifier: GPL-2.0 */
/* A watch as the files of this room see it; watch_window.h is for everyone else. */
#ifndef COPYSCOPE_WATCH_WINDOW_PARTS_H
#define COPYSCOPE_WATCH_WINDOW_PARTS_H

#include "userspace/probes/watch/watch_probes.h"
#include "userspace/watch/books/books_tally.h"
#include "userspace/watch/subject/watch_subject.h"

struct watch {
	struct watch_probes *probes;
	struct watch_subject subject;
	enum watch_books books;
	struct watch_hooked hooked;
	struct watch_tally tally;
	uint64_t opened_ns, read_ns;	/* CLOCK_MONOTONIC */
	uint64_t peak_pages;
	int cpus;
	int chosen;	/* processes of the subject that this one found */
	struct watch_cgroup *cgroups;	/* owned: those that there were when the window opened */
	int cgroup_count;
	bool late_tried;	/* the hooks for zero copy were attached in mid-window */
	int failure;		/* a socket that died could not be kept */
};

/* Makes the processes that run and fit part of the subject. 0, or -errno with one line in @why. */
int watch_choose(struct watch *w, char why[WHY_BYTES]);

/* How many processes of the subject run; -1: not known by number. */
int watch_alive(const struct watch *w);

/* The kernel skipped a program for packets or notifications, because it ran already on that CPU. */
bool watch_skipped(const struct watch_record *r);

/* What is not in the books of sockets: overhead, peaks, processes that moved nothing, gaps. 0 or -errno. */
int watch_read_extras(struct watch *w, struct watch_record *r);

#endif
