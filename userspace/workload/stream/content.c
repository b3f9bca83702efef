// SPDX-License-Identifier: GPL-2.0
/* The bytes of the stream: each depends on its position in the stream alone. */
#include <string.h>

#include "userspace/workload/stream/content.h"

static uint8_t table[CONTENT_PERIOD_BYTES];

void content_init(void)
{
	uint64_t state = CONTENT_PERIOD_BYTES;

	/* A linear congruential generator (Knuth, MMIX); its top bits are the random ones. */
	for (size_t i = 0; i < sizeof(table); i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		table[i] = state >> 56;
	}
}

void content_begin(struct content *content, enum content_direction direction)
{
	content->offset = direction;
}

/* Returns the slice of the table that comes next, at most @bytes long, and moves past it. */
static const uint8_t *content_slice(struct content *content, size_t bytes, size_t *slice_bytes)
{
	const uint8_t *slice = table + content->offset;
	size_t left = sizeof(table) - content->offset;

	if (bytes < left) {
		content->offset += bytes;
		*slice_bytes = bytes;
	} else {
		content->offset = 0;
		*slice_bytes = left;
	}
	return slice;
}

void content_fill(struct content *content, void *to, size_t bytes)
{
	uint8_t *at = to;
	size_t part;

	for (; bytes; bytes -= part, at += part) {
		const uint8_t *slice = content_slice(content, bytes, &part);

		memcpy(at, slice, part);
	}
}

void content_skip(struct content *content, size_t bytes)
{
	content->offset = (content->offset + bytes) % CONTENT_PERIOD_BYTES;
}

static uint64_t differing_bytes(const uint8_t *a, const uint8_t *b, size_t bytes)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < bytes; i++)
		wrong += a[i] != b[i];
	return wrong;
}

uint64_t content_check(struct content *content, const void *from, size_t bytes)
{
	const uint8_t *at = from;
	uint64_t wrong = 0;
	size_t part;

	for (; bytes; bytes -= part, at += part) {
		const uint8_t *slice = content_slice(content, bytes, &part);

		if (memcmp(at, slice, part))
			wrong += differing_bytes(at, slice, part);
	}
	return wrong;
}

bool content_find(struct content *content, const void *from, size_t bytes)
{
	const uint8_t *first = from;

	for (uint32_t skipped = 0; skipped < CONTENT_PERIOD_BYTES; skipped++) {
		struct content at = { (content->offset + skipped) % CONTENT_PERIOD_BYTES };

		if (table[at.offset] == *first && !content_check(&at, from, bytes)) {
			*content = at;
			return true;
		}
	}
	content_check(content, from, bytes);
	return false;
}
