/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that copyscope watch starts itself.
 *
 * It waits before its first instruction until it is released, so that probes are attached by then.
 * It keeps stdin, stdout, stderr, the terminal and the process group of the tool. Its parent is a
 * subreaper, which also becomes the parent of processes that it leaves behind, and so knows when the
 * last one has ended. The subreaper has the privileges to pass signals on after the tool has dropped
 * its own. If the tool dies, the subreaper dies, and the command continues.
 */
#ifndef COPYSCOPE_WATCH_COMMAND_H
#define COPYSCOPE_WATCH_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t subreaper;	/* 0: nothing was started */
	int channel;	/* to the subreaper; readable when there is news */
	pid_t pid;
	bool ended;	/* the command has, though not all that it started */
	int status;	/* exit status as a shell has it: 128 and the signal for one that was killed */
	bool all_ended;
	bool lost;	/* the subreaper was killed: what it started may run on, and nobody here knows */
};

/* Starts it, as the user who called sudo unless @as_root. 0, or -errno with one line printed. If the
 * tool dies before it releases the command, nothing is executed. */
int command_start(struct command *c, char **argv, bool as_root);

/* Lets it execute. 0; or -errno with one line printed, and @status as env(1) has it. */
int command_release(struct command *c, const char *name);

/* Takes what the subreaper tells, without waiting. False once all that was started has ended; true, too,
 * if @lost: then only the window can tell. */
bool command_runs(struct command *c);

/* Sends the command a signal that was meant for it. */
void command_signal(struct command *c, int signal);

/* Ends the subreaper, and a command that was not released; accepts a zeroed one. */
void command_end(struct command *c);

#endif
