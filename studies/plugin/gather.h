/* SPDX-License-Identifier: GPL-2.0 */
/* What programs of the guest fill when they gather a message into one buffer. */
#ifndef COPYSCOPE_PLUGIN_GATHER_H
#define COPYSCOPE_PLUGIN_GATHER_H

#include <stdint.h>

/* The bytes that one gathering has filled. */
struct gathered {
	uint64_t low, high;	/* high is 0: nothing */
};

/* A program gathers messages into this memory. Without room for it the emulator ends. */
void gather_learn(uint64_t first, uint64_t last);

/* What gathers has ended. */
void gather_forget(void);

/* A store in the middle of a gathering; what does not go to such memory, as to a stack, is no part of it. */
void gather_add(struct gathered *g, uint64_t address, unsigned int bytes);

/* The gathering has ended: how many bytes it filled. A copy stores some bytes twice, so its range counts. */
uint64_t gather_end(struct gathered *g);

#endif
