// SPDX-License-Identifier: GPL-2.0
/* Shows texts of others in messages: control characters escaped, long texts shortened. */
#include "userspace/common/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	SLOTS = 9,
	PIECE_BYTES = 20,		/* a character of four bytes, each escaped, and some more */
	SHOWN_MAX = 200,
	HEAD_MAX = 140,			/* of a longer text: its beginning, ... */
	TAIL_MAX = SHOWN_MAX - HEAD_MAX - 3,	/* ... and its end, where a file's name is */
};

_Static_assert((int)SHOWN_MAX < (int)PRINTABLE_BYTES, "a slot holds what is shown and its end");

/* Bytes of the UTF-8 character at @s and its @code; 0 if there is none. */
static int utf8(const unsigned char *s, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int length = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;

	if (!length)
		return 0;
	*code = length == 1 ? *s : *s & (0x7f >> length);
	for (int i = 1; i < length; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

/* True if a terminal would execute it, or break or turn the line at it. */
static bool obeyed(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* Writes into @piece how the character at @s is shown; returns its bytes in @s. */
static int show_one(const unsigned char *s, char piece[PIECE_BYTES])
{
	uint32_t code = 0;
	int length = utf8(s, &code), used = 0;

	if (length && !obeyed(code)) {
		memcpy(piece, s, length);
		piece[length] = 0;
		return length;
	}
	if (*s == '\n' || *s == '\t' || *s == '\r') {
		snprintf(piece, PIECE_BYTES, "\\%c", *s == '\n' ? 'n' : *s == '\t' ? 't' : 'r');
		return 1;
	}
	for (int i = 0; i < (length ? length : 1); i++)
		used += snprintf(piece + used, PIECE_BYTES - used, "\\x%02x", s[i]);
	return length ? length : 1;
}

/* How long @s is when it is shown whole. */
static size_t shown_bytes(const unsigned char *s)
{
	char piece[PIECE_BYTES];
	size_t shown = 0;

	while (*s) {
		s += show_one(s, piece);
		shown += strlen(piece);
	}
	return shown;
}

/* Appends what is shown of @s to @out, at most @room bytes; returns where it stopped. */
static const unsigned char *append(char *out, const unsigned char *s, size_t room)
{
	char piece[PIECE_BYTES];
	size_t used = strlen(out), most = used + room;

	while (*s) {
		int length = show_one(s, piece);

		if (used + strlen(piece) > most)
			break;
		strcpy(out + used, piece);
		used += strlen(piece);
		s += length;
	}
	return s;
}

const char *printable(const char *text)
{
	static __thread char slots[SLOTS][PRINTABLE_BYTES];
	static __thread unsigned int next;
	char *out = slots[next++ % SLOTS], piece[PIECE_BYTES];
	const unsigned char *s = (const unsigned char *)text;
	size_t left = shown_bytes(s);

	*out = 0;
	if (left <= SHOWN_MAX) {
		append(out, s, SHOWN_MAX);
		return out;
	}
	append(out, s, HEAD_MAX);
	strcat(out, "...");
	while (left > TAIL_MAX) {
		s += show_one(s, piece);
		left -= strlen(piece);
	}
	append(out, s, TAIL_MAX);
	return out;
}
