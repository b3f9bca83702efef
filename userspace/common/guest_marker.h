/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the programs of a guest speak to the plugin of its emulator, which sees the address of each store.
 *
 * They map a page at an address that nothing else uses. A store to it means what its offset says: a letter of
 * a line, or one of the codes below. Without the page, and on a real processor, nothing happens.
 */
#ifndef COPYSCOPE_GUEST_MARKER_H
#define COPYSCOPE_GUEST_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#define MARKER_ADDRESS 0x0c0bc09e0000ull

enum { MARKER_BYTES = 4096 };

/* Offsets. Below them lie the letters. */
enum marker_code {
	MARKER_OTHER = 256,	/* this thread belongs to no end of a run */
	MARKER_SENDER,		/* it works for the end that sends */
	MARKER_RECEIVER,
	MARKER_GATHER_BEGINS,	/* it copies a message into one buffer from here ... */
	MARKER_GATHER_ENDS,	/* ... to here */
	MARKER_FIRST,		/* its next store is to the first byte of such a buffer */
	MARKER_LAST,		/* its next store is to the last one */
};

/* Whose instruction it is: the order of marker_code. */
enum { MARKER_ROLES = 3 };

enum marker_context { MARKER_USER, MARKER_KERNEL, MARKER_SOFTIRQ, MARKER_CONTEXTS };

/* Functions whose work is told apart; 0 is all other code. */
enum { MARKER_SITES = 8 };

/* What a cell of the report counts, in its order. */
enum marker_count {
	MARKER_INSTRUCTIONS, MARKER_LOADS, MARKER_STORES, MARKER_LINES, MARKER_L1D_MISSES, MARKER_L2_MISSES,
	MARKER_LLC_MISSES, MARKER_L1D_LOAD_MISSES, MARKER_L2_LOAD_MISSES, MARKER_LLC_LOAD_MISSES,
	MARKER_COPIED_BYTES, MARKER_CALLS, MARKER_COUNTS
};

extern bool marker_is_mapped;

/* Maps the page. 0 or -errno. */
int marker_map(void);

static inline void marker_store(unsigned int offset)
{
	if (marker_is_mapped)
		((volatile char *)MARKER_ADDRESS)[offset] = 0;
}

/* Says which byte a code is about, and clears it: the plugin takes the address of the next store. */
static inline void marker_point(enum marker_code code, volatile char *byte)
{
	if (marker_is_mapped) {
		marker_store(code);
		*byte = 0;
	}
}

/* Says a line; the plugin takes it at its end. */
void marker_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
