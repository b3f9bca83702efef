/* SPDX-License-Identifier: GPL-2.0 */
/* Shows on a terminal how a run goes, with a line for each second. */
#ifndef COPYSCOPE_PROGRESS_H
#define COPYSCOPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct progress {
	bool shown;		/* stderr is a terminal */
	bool counting;		/* devices can be read */
	int devices;		/* then: the receiver's /proc/PID/net/dev */
	uint64_t bytes, read_ns;	/* what they had received by then, since the run began */
	int seconds;		/* whole ones that are over */
};

/*
 * Call it while files can still be opened. @receiver is the process whose devices are counted; 0: nothing
 * is counted, as in a namespace that others use, too.
 */
void progress_open(struct progress *p, pid_t receiver);

/* The run began @elapsed_ns ago; call it about ten times a second, at first with 0. */
void progress_step(struct progress *p, uint64_t elapsed_ns);

/* Takes the unfinished line away; a zeroed one is accepted. */
void progress_close(struct progress *p);

#endif
