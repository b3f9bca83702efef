/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which calls of which programs moved bytes, as plain data: stacks of user space, their frames, and the files that
 * these lie in.
 *
 * Names come from files of the programs that were watched: they may hold any byte.
 */
#ifndef COPYSCOPE_RECORD_USER_STACKS_H
#define COPYSCOPE_RECORD_USER_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/sites.h"
#include "bpf/include/watch.h"

enum { STACK_PATH_BYTES = 256, STACK_FUNCTION_BYTES = 192, BUILD_ID_BYTES = 20, STACK_WHY_BYTES = 160,
       STACK_KIB_MOST = 1 << 20 };

/* A file of code that a process has mapped. */
struct stack_module {
	char path[STACK_PATH_BYTES];	/* as the process sees it */
	unsigned char build_id[BUILD_ID_BYTES];
	uint32_t build_id_bytes;	/* 0: it has none, or was not read */
	uint32_t replaced;		/* another file has its name by now, or none */
	uint32_t unread;		/* the file could not be opened: no names */
};

enum { NO_MODULE = ~0u };

/* A place in code: where it was, or where a call returns to. */
struct stack_frame {
	uint32_t module;	/* NO_MODULE: code without a file, or a process of which nothing is known */
	uint32_t unused;
	uint64_t offset;	/* the address that the linker gave it; without a module that in the process */
	char function[STACK_FUNCTION_BYTES];	/* empty: not named */
};

/* Why a stack is shorter than it was. */
enum stack_end { STACK_WHOLE, STACK_CUT /* it was deeper */, STACK_BROKE /* code that keeps no frame pointer */,
		 STACK_UNREAD /* what the process had mapped is not known */, STACK_OF_KERNEL /* no program called */,
		 STACK_OF_RING /* but a thread of io_uring for one */ };

struct call_stack {
	uint32_t tgid;
	uint32_t site;			/* or WATCH_ACCEPTED, WATCH_RETURNED */
	uint64_t started_ns;
	uint64_t bytes, calls;
	enum stack_end end;
	int first, count;		/* of .places: frames, innermost first */
};

struct user_stacks {
	struct call_stack *stacks;	/* owned, these four */
	struct stack_frame *frames;
	struct stack_module *modules;
	uint32_t *places;
	int stack_count, frame_count, module_count, place_count;
	uint64_t lost_bytes, lost_calls;	/* found no room */
	char why[STACK_WHY_BYTES];	/* why no frame has a name; empty: those that could be named were */
};

/* "tx_copy", "accepted", ... */
const char *call_stack_site(const struct call_stack *stack);

/* Frees what it owns and empties it. */
void user_stacks_free(struct user_stacks *all);

#endif
