/* SPDX-License-Identifier: GPL-2.0 */
/* Starts ssh(1), with the other half of a run at its far end. */
#ifndef COPYSCOPE_SSH_H
#define COPYSCOPE_SSH_H

#include <sys/types.h>

struct ssh {
	pid_t pid;	/* 0: there is none */
	int in, out, err;	/* from its stdout, to its stdin, from its stderr */
};

/*
 * Starts @command, of SSH_WORDS_MAX words at most and NULL, for @host, where a shell starts @far as
 * the far half. If sudo(8) started us, ssh is the process of who called sudo: with the keys and the
 * configuration of that user. The kernel kills it when the caller dies. 0, or -errno with one line
 * printed.
 */
int ssh_start(struct ssh *s, char *const *command, const char *host, const char *far);

/* Waits a moment for its end, then kills it. Its descriptors are the caller's to close before.
 * Accepts a zeroed one. */
void ssh_end(struct ssh *s);

#endif
