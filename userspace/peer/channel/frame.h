/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of the control connection once both hosts have greeted and proved themselves.
 *
 * Four bytes of length, most significant first, the word in one byte, three zeros; then that many
 * bytes of text; then the mark of all this (session.h). Nothing that comes is trusted: a length
 * above the limit of the moment, an unknown word or a wrong mark ends the conversation. Most words
 * have no text at all, and the text of the others is parsed elsewhere.
 */
#ifndef COPYSCOPE_FRAME_H
#define COPYSCOPE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "userspace/peer/channel/session.h"

enum word { WORD_HELLO = 1, WORD_PLAN, WORD_ACCEPT, WORD_REFUSE, WORD_READY, WORD_STOP, WORD_DONE,
	    WORD_HALF, WORD_COUNT };

/* What the text of a word and that of a host's half of the books may take. */
enum { FRAME_WORD_BYTES = 4096, FRAME_HALF_BYTES = 16 << 20, FRAME_HEADER_BYTES = 8 };

/* Reads a header; false if it is none, or promises more than @limit bytes of text. */
bool frame_header_read(const uint8_t header[FRAME_HEADER_BYTES], size_t limit, enum word *word,
		       size_t *bytes);

/* 0 or -errno; -ETIMEDOUT if it is not gone after @timeout_ms. */
int frame_send(int fd, struct session *s, enum word word, const char *text, int timeout_ms);

/*
 * Receives one frame. *text, of *bytes and a terminating 0, is the caller's to free, and NULL on
 * failure. @text may be NULL for words without any: one that has some is then no frame. -ECONNRESET
 * if the other side is gone, -ETIMEDOUT if it was not whole after @timeout_ms, -EBADMSG if it is no
 * frame, -EKEYREJECTED if its mark is wrong.
 */
int frame_receive(int fd, struct session *s, enum word *word, size_t limit, char **text,
		  size_t *bytes, int timeout_ms);

/* From now on every wait of this process is also over (-ETIMEDOUT) when @left_ms says 0 or less. */
void frame_limit(int64_t (*left_ms)(void));

/* The bytes of a greeting or an answer, as they are. 0 or -errno as above. */
int bytes_send(int fd, const void *from, size_t bytes, int timeout_ms);
int bytes_receive(int fd, void *to, size_t bytes, int timeout_ms);

/* In a few words what an error of these means for who waits. */
const char *frame_why(int err);

#endif
