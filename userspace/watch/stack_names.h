/* SPDX-License-Identifier: GPL-2.0 */
/* From addresses in stacks to functions of files. */
#ifndef COPYSCOPE_WATCH_STACK_NAMES_H
#define COPYSCOPE_WATCH_STACK_NAMES_H

#include "userspace/record/user_stacks.h"
#include "userspace/watch/program_maps.h"

/* Fills frames, modules and places of *@out, and what its stacks say of these; @stacks are in the same order. 0 or
 * -ENOMEM. */
int stack_names_fill(const struct program_maps *maps, const struct user_stack *stacks, struct user_stacks *out);

/* The same without a file: stacks, which have no frame yet, get their addresses. 0 or -ENOMEM. */
int stack_addresses_fill(const struct user_stack *stacks, struct user_stacks *out);

#endif
