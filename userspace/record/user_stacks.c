// SPDX-License-Identifier: GPL-2.0
/* Names of the frames and sites of stacks. */
#include "userspace/record/user_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/record/record.h"

const char *call_stack_site(const struct call_stack *stack)
{
	return stack->site == WATCH_ACCEPTED ? "accepted" : stack->site < SITE_COUNT ? site_name(stack->site) : "returned";
}

void stack_frame_name(const struct user_stacks *all, const struct stack_frame *frame, char *name, int size)
{
	const char *path = frame->module < (uint32_t)all->module_count ? all->modules[frame->module].path : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (*frame->function)
		snprintf(name, size, "%s", frame->function);
	else if (path)
		snprintf(name, size, "%.*s+0x%" PRIx64, size - 24, slash ? slash + 1 : path, frame->offset);
	else
		snprintf(name, size, "0x%" PRIx64, frame->offset);
}

void user_stacks_free(struct user_stacks *all)
{
	free(all->stacks);
	free(all->frames);
	free(all->modules);
	free(all->places);
	*all = (struct user_stacks){};
}
