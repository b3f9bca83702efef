/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the programs of a guest speak to the plugin of its emulator, which sees the address of each store.
 *
 * They map a page at an address that nothing else uses. A store to it means what its offset says: a letter of
 * a line, or one of the codes below. Without the page, and on a real processor, nothing happens.
 */
#ifndef COPYSCOPE_BELL_H
#define COPYSCOPE_BELL_H

#include <stdbool.h>
#include <stdint.h>

#define BELL_ADDRESS 0x0c0bc09e0000ull

enum { BELL_BYTES = 4096 };

/* Offsets. Below them lie the letters. */
enum bell_code {
	BELL_OTHER = 256,	/* this thread belongs to no end of a run */
	BELL_SENDER,		/* it works for the end that sends */
	BELL_RECEIVER,
	BELL_GATHER_BEGINS,	/* it copies a message into one buffer from here ... */
	BELL_GATHER_ENDS,	/* ... to here */
	BELL_FIRST,		/* its next store is to the first byte of such a buffer */
	BELL_LAST,		/* its next store is to the last one */
};

/* Whose instruction it is: the order of bell_code. */
enum { BELL_ROLES = 3 };

enum bell_context { BELL_USER, BELL_KERNEL, BELL_SOFTIRQ, BELL_CONTEXTS };

/* Functions whose work is told apart; 0 is all other code. */
enum { BELL_SITES = 8 };

/* What a cell of the report counts, in its order. */
enum bell_count {
	BELL_INSTRUCTIONS, BELL_LOADS, BELL_STORES, BELL_LINES, BELL_L1D_MISSES, BELL_L2_MISSES,
	BELL_LLC_MISSES, BELL_L1D_LOAD_MISSES, BELL_L2_LOAD_MISSES, BELL_LLC_LOAD_MISSES,
	BELL_COPIED_BYTES, BELL_CALLS, BELL_COUNTS
};

extern bool bell_is_there;

/* Maps the page. 0 or -errno. */
int bell_map(void);

static inline void bell_ring(unsigned int offset)
{
	if (bell_is_there)
		((volatile char *)BELL_ADDRESS)[offset] = 0;
}

/* Says which byte a code is about, and clears it: the plugin takes the address of the next store. */
static inline void bell_point(enum bell_code code, volatile char *byte)
{
	if (bell_is_there) {
		bell_ring(code);
		*byte = 0;
	}
}

/* Says a line; the plugin takes it at its end. */
void bell_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
