/* SPDX-License-Identifier: GPL-2.0 */
/* The process between copyscope watch and the command that it started. */
#ifndef COPYSCOPE_COMMAND_KEEPER_H
#define COPYSCOPE_COMMAND_KEEPER_H

#include <sys/types.h>

#include "userspace/watch/command/caller.h"

/* What the tool sends: this, or the number of a signal for the command. */
enum { KEEPER_GO = 0 };

/* What the keeper sends, in this order; the last one when nothing is left that it started. */
struct keeper_news {
	enum { NEWS_STARTED, NEWS_EXECUTED, NEWS_ENDED, NEWS_ALL_ENDED } what;
	int value;	/* pid; errno; exit status; 0 */
};

/* In a child of the tool @parent: starts the command and serves the channel. Does not return. */
void command_keep(int channel, char **argv, const struct caller *caller, pid_t parent)
	__attribute__((noreturn));

#endif
