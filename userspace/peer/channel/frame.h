/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of the control connection after both hosts have greeted and authenticated each other.
 *
 * Four bytes of length, most significant first, the type in one byte, three zeros; then that many
 * bytes of text; then the authentication code of all this (session.h). Nothing received is trusted:
 * a length above the current limit, an unknown type or a wrong code ends the connection. Most types
 * have no text at all; the text of the others is parsed in another process.
 */
#ifndef COPYSCOPE_FRAME_H
#define COPYSCOPE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "userspace/peer/channel/session.h"

enum word { WORD_HELLO = 1, WORD_PLAN, WORD_ACCEPT, WORD_REFUSE, WORD_READY, WORD_STOP, WORD_DONE,
	    WORD_HALF, WORD_COUNT };

/* The most that the text of a frame and that of a half may take. */
enum { FRAME_WORD_BYTES = 4096, FRAME_HALF_BYTES = 16 << 20, FRAME_HEADER_BYTES = 8 };

/* Reads a header; false if it is invalid, or announces more than @limit bytes of text. */
bool frame_header_read(const uint8_t header[FRAME_HEADER_BYTES], size_t limit, enum word *word,
		       size_t *bytes);

/* 0 or -errno; -ETIMEDOUT if it was not sent within @timeout_ms. */
int frame_send(int fd, struct session *s, enum word word, const char *text, int timeout_ms);

/*
 * Receives one frame. *text, of *bytes and a terminating 0, is the caller's to free, and NULL on
 * failure. @text may be NULL for types without any: a frame with text is then invalid. -ECONNRESET
 * if the other side is gone, -ETIMEDOUT if the frame was not complete after @timeout_ms, -EBADMSG
 * if it is invalid, -EKEYREJECTED if its authentication code is wrong.
 */
int frame_receive(int fd, struct session *s, enum word *word, size_t limit, char **text,
		  size_t *bytes, int timeout_ms);

/* From now on every wait of this process also ends (-ETIMEDOUT) when @left_ms returns 0 or less. */
void frame_limit(int64_t (*left_ms)(void));

/* The bytes of a greeting or an answer, as they are. 0 or -errno as above. */
int bytes_send(int fd, const void *from, size_t bytes, int timeout_ms);
int bytes_receive(int fd, void *to, size_t bytes, int timeout_ms);

/* Explains one of these errors in a few words, for the side that waits. */
const char *frame_why(int err);

#endif
