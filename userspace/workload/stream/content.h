/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes of the stream: each depends on its position in the stream alone. */
#ifndef WORKLOAD_CONTENT_H
#define WORKLOAD_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Period of the pattern. Prime, so that data displaced by whole pages, fields, segments or
 * messages never looks right (unless BYTES is a multiple of it), and small enough for the
 * table to stay in the L1 cache while a message is filled or checked.
 */
#define CONTENT_PERIOD_BYTES 7919

/* Requests and replies start at different places: an echoed request is not a reply. */
enum content_direction {
	CONTENT_REPLY = 0,
	CONTENT_REQUEST = 3571,
};

/* The position of one direction of one connection. */
struct content {
	uint32_t offset; /* stream position modulo the period, 0..CONTENT_PERIOD_BYTES-1 */
};

/* Computes the table; call it once, before any thread. */
void content_init(void);

void content_begin(struct content *content, enum content_direction direction);

/* Writes the next @bytes of the stream. */
void content_fill(struct content *content, void *to, size_t bytes);

/* Passes over the next @bytes of the stream. */
void content_skip(struct content *content, size_t bytes);

/* Returns how many of the next @bytes of the stream are wrong. */
uint64_t content_check(struct content *content, const void *from, size_t bytes);

/*
 * Where whole pieces of the stream may be lost: moves @content behind the next place where @bytes are a piece
 * of the stream. Returns false, and moves it as content_check() does, if there is none.
 */
bool content_find(struct content *content, const void *from, size_t bytes);

#endif
