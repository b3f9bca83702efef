/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows who runs on each processor, and inside which functions, from the blocks that it executes.
 *
 * A block that ends with a call is followed by a frame that ends where the next instruction executes after a
 * return. So a function's work includes what it calls, a jump at its end instead of a call changes nothing, and
 * what an interrupt does in between has frames of its own.
 */
#ifndef COPYSCOPE_PLUGIN_FOLLOW_H
#define COPYSCOPE_PLUGIN_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "studies/plugin/code.h"
#include "studies/plugin/gather.h"

enum { FRAMES_MAX = 96 };

struct frame {
	uint64_t returns_to;
	bool entered;		/* what follows is as it was before */
	uint8_t site, call;
	bool softirq;
};

/* A thread of the guest, known by where its kernel stack or its registers are kept. */
struct task {
	uint64_t key;
	uint8_t role;		/* marker_code - MARKER_OTHER */
	uint8_t site, user_site;
	uint8_t call;		/* the system call that matters, which it is inside of; 0: none */
	bool softirq;
	uint16_t points;	/* MARKER_FIRST or MARKER_LAST: its next store tells that address; 0: none */
	uint64_t first;		/* what MARKER_FIRST told */
	struct gathered gathered;
	unsigned int depth;
	struct frame frame[FRAMES_MAX];
};

struct runner {
	struct task *task;
	const struct block *block;	/* that it executes; NULL: none yet */
	uint64_t switched_to;		/* key of the next task; 0: the same */
};

/* How many bytes a kernel stack has, which tell its task; 1: registers are kept in the task's own memory. */
extern uint64_t follow_stack_bytes;

/* Before the first block of a processor, or the first one after follow_anew(). */
void follow_begin(struct runner *r, unsigned int processor);

/* What was followed up to here is not known any more: no task has a role or is inside of a function. */
void follow_anew(void);

/* The processor begins with a block. True if it enters the function of a site. */
bool follow_block(struct runner *r, const struct block *b);

/*
 * True on x86 where stacks lie: nothing is copied there at a site. What an interrupt pushes, five words, the
 * emulator reports as stores of the instruction before it. Softirqs have a stack of the processor's, which
 * arch/x86/kernel/irq_64.c maps in the same area as the tasks' (vmalloc); payload is far from there.
 */
bool follow_is_stack(const struct task *t, uint64_t address);

/* An access of the function that switches tasks: the last one is to what the next task has kept. */
static inline void follow_switch(struct runner *r, uint64_t address)
{
	r->switched_to = address / follow_stack_bytes;
}

#endif
