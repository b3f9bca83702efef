/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of the control connection: four bytes of length, most significant first, then that many
 * bytes of one JSON object.
 *
 * Nothing that comes is trusted: a length above the limit of the moment, anything but a JSON
 * object, or text that is not printable ASCII (it may end up on a terminal) is refused.
 */
#ifndef COPYSCOPE_FRAME_H
#define COPYSCOPE_FRAME_H

#include <jansson.h>
#include <stddef.h>

/* What a word of the conversation and what a host's half of the books may take. */
enum { FRAME_WORD_BYTES = 4096, FRAME_HALF_BYTES = 16 << 20 };

/* Sends @o and frees it. 0 or -errno; -ETIMEDOUT if it is not gone after @timeout_ms. */
int frame_send(int fd, json_t *o, int timeout_ms);

/*
 * Receives one object of at most @limit bytes. NULL with *err: -ECONNRESET if the other side is
 * gone, -ETIMEDOUT if it was not whole after @timeout_ms, -EBADMSG if it is no frame.
 */
json_t *frame_receive(int fd, size_t limit, int timeout_ms, int *err);

/* True if the object is the word @type. */
int frame_is(const json_t *o, const char *type);

#endif
