/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Removes from a process what it no longer needs, for good: descriptors, user, capabilities, system
 * calls.
 *
 * The order is: open what is needed, confine_descriptors, confine_for_good, confine_syscalls. None
 * of it can be undone, and children inherit all of it. Each returns 0 or -errno and prints nothing.
 */
#ifndef COPYSCOPE_CONFINE_H
#define COPYSCOPE_CONFINE_H

#include <stdint.h>

/*
 * Closes every descriptor but the @count in @keep, in any order; -1 among them stands for none. 0, 1
 * and 2 are closed, too, unless they are listed.
 */
int confine_descriptors(const int *keep, int count);

/* The descriptors that a process was started with, but for 0, 1 and 2. */
struct inherited {
	int *descriptors, count;	/* owned */
};

/* Call it before anything is opened. A program that opens /dev/fd/63 by name needs them for a
 * while. */
int confine_note_inherited(struct inherited *all);

/* Closes and frees them; a zeroed one is accepted. */
void confine_close_inherited(struct inherited *all);

/*
 * Empties the bounding set and all capability sets, locks the securebits, sets NoNewPrivs and becomes a
 * user whom no other program has: copyscope if the system has it. A process that is not root keeps its
 * user. It still dies with its parent if it did before (PR_SET_PDEATHSIG).
 */
int confine_for_good(void);

/* The same, but the capabilities of this mask (1 << CAP_...) stay permitted and effective. */
int confine_for_good_but(uint64_t capabilities);

/* The same, but the process stays root's, so that no other process of that user can kill it: for one
 * that must finish its work. It is to read no more than a byte from others. */
int confine_root_but(uint64_t capabilities);

/* What a process does from now on. confine_syscalls.c lists the calls of each. */
enum confine_role {
	CONFINE_MEASURE,	/* read maps, counters and iterators, collect children, write the record */
	CONFINE_WORKLOAD,	/* move payload: the two ends */
	CONFINE_RINGS,		/* the same by io_uring, whose requests no list holds */
	CONFINE_ROLES
};

/*
 * Allows the system calls of that role. The kernel kills the process with SIGSYS for any other
 * call, except that it refuses with EACCES to open a file for reading: the C library does so by
 * itself. Call it while there is one thread. A caller that uses jansson first calls
 * json_object_seed(0), which reads a file.
 */
int confine_syscalls(enum confine_role role);

#endif
