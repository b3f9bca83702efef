/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names the record and puts settings back, for a run that may do neither any more.
 *
 * The process that measures becomes nobody. What root has to do after that is done by a process that
 * was forked before, and that hears one word from it: that the record is whole.
 */
#ifndef COPYSCOPE_KEEPER_H
#define COPYSCOPE_KEEPER_H

#include <sys/types.h>

#include "userspace/common/files/record_file.h"

struct keeper {
	pid_t pid;	/* 0: there is none */
	int line;	/* to it and back; its end is the end of the run */
};

/*
 * Starts it. When the run has ended, however it ended, it calls @at_end, which may use @descriptor
 * (-1: none) and opens nothing. 0 or -errno.
 */
int keeper_start(struct keeper *k, const struct record_file *file, void (*at_end)(void *arg), void *arg,
		 int descriptor);

/* Writes out what is left of the record, and has it named. 0 or -errno. */
int keeper_publish(const struct keeper *k, struct record_file *file);

/* Lets go of it and waits until it has come to its end; a zeroed one is accepted. */
void keeper_end(struct keeper *k);

#endif
