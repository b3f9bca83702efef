/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names the record and restores settings, for a run that may do neither any more.
 *
 * The process that measures becomes another user. A process forked before does what root has to do after
 * that. It receives one message: that the record is whole.
 */
#ifndef COPYSCOPE_RECORD_KEEPER_H
#define COPYSCOPE_RECORD_KEEPER_H

#include <sys/types.h>

#include "userspace/common/files/record_file.h"

struct keeper {
	pid_t pid;	/* 0: there is none */
	int line;	/* to it and back; when the pipe closes, the run has ended */
};

/*
 * Starts it. When the run has ended, in any way, it calls @at_end, which may use @descriptor (-1:
 * none) and opens nothing. 0 or -errno.
 */
int keeper_start(struct keeper *k, const struct record_file *file, void (*at_end)(void *arg), void *arg,
		 int descriptor);

/* Writes the rest of the record, and lets the keeper name it. 0 or -errno. */
int keeper_publish(const struct keeper *k, struct record_file *file);

/* Closes the pipe to it and waits until it has ended; accepts a zeroed one. */
void keeper_end(struct keeper *k);

#endif
