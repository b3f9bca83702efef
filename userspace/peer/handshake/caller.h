/* SPDX-License-Identifier: GPL-2.0 */
/* One caller at an open port: what it has sent so far, and which stage it has reached. */
#ifndef COPYSCOPE_CALLER_H
#define COPYSCOPE_CALLER_H

#include "userspace/peer/channel/frame.h"
#include "userspace/peer/handshake/handshake.h"

/* In order: a caller at an earlier stage never displaces one at a later stage. */
enum stage { STAGE_GREETS, STAGE_PROVES, STAGE_HELLO, STAGE_PLAN, STAGE_ACCEPTED };

enum { CALLER_BYTES = FRAME_HEADER_BYTES + FRAME_WORD_BYTES + MARK_BYTES };

struct caller {
	int fd;
	enum stage stage;
	int64_t deadline_ms;
	char name[NAME_OF_ADDRESS_BYTES];
	struct greeting mine, theirs;
	struct session session;
	struct run_request request;
	char line[300];		/* the reason it receives, and the log, if it is refused */
	size_t have, want;	/* bytes of the message that is due */
	uint8_t said[CALLER_BYTES];
};

/* @fd: a non-blocking connection. NULL without memory; the caller is then ignored. */
struct caller *caller_new(int fd, int64_t deadline_ms);

/* Reads what has come. NULL, or why it is refused; the stage shows if it is accepted. */
const char *caller_hear(struct caller *c, const struct handshake *m);

/* Hangs up. */
void caller_free(struct caller *c);

#endif
