/* SPDX-License-Identifier: GPL-2.0 */
/* One who came to an open port: what it has said so far, and how far that got it. */
#ifndef COPYSCOPE_CALLER_H
#define COPYSCOPE_CALLER_H

#include "userspace/peer/channel/frame.h"
#include "userspace/peer/meet/handshake.h"

/* In order: who has got further is not pushed out by one who has not. */
enum stage { STAGE_GREETS, STAGE_PROVES, STAGE_HELLO, STAGE_PLAN, STAGE_ACCEPTED };

enum { CALLER_BYTES = FRAME_HEADER_BYTES + FRAME_WORD_BYTES + MARK_BYTES };

struct caller {
	int fd;
	enum stage stage;
	int64_t deadline_ms;
	char name[NAME_OF_ADDRESS_BYTES];
	struct greeting mine, theirs;
	struct session session;
	struct run_request offer;
	char line[300];		/* what it is told, and the log, if it is refused */
	size_t have, want;	/* bytes of the message that is due */
	uint8_t said[CALLER_BYTES];
};

/* @fd: a connection that does not block. NULL without memory; the caller then is not heard. */
struct caller *caller_new(int fd, int64_t deadline_ms);

/* Takes in what has come. NULL, or why it is refused; accepted if the stage says so. */
const char *caller_hear(struct caller *c, const struct handshake *m);

/* Hangs up. */
void caller_free(struct caller *c);

#endif
