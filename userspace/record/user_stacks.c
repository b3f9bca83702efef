// SPDX-License-Identifier: GPL-2.0
/* Names of the sites of stacks. */
#include "userspace/record/user_stacks.h"

#include <stdlib.h>

#include "userspace/record/record.h"

const char *call_stack_site(const struct call_stack *stack)
{
	return stack->site == WATCH_ACCEPTED ? "accepted" : stack->site < SITE_COUNT ? site_name(stack->site) : "returned";
}

void user_stacks_free(struct user_stacks *all)
{
	free(all->stacks);
	free(all->frames);
	free(all->modules);
	free(all->places);
	*all = (struct user_stacks){};
}
