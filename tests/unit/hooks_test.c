// SPDX-License-Identifier: GPL-2.0
/* The table of hooks has what its forms need: a program for each of them, and an end to each beginning. */
#include <string.h>

#include "tests/unit/unit.h"
#include "userspace/engine/hooks.h"

static int forms_of(const char *target)
{
	int count = 0;

	for (const struct hook_form *form = hook_forms; form->target; form++)
		count += !strcmp(form->target, target);
	return count;
}

/* Has that form of the function a hook that answers the same question? */
static bool has_alike(const struct hook_form *form, const struct hook *like)
{
	for (const struct hook *h = hooks; h->program; h++)
		if (!strcmp(h->target, form->target) && (!h->args || h->args == form->args) &&
		    h->kind == like->kind && h->sets == like->sets && !strcmp(h->metric, like->metric))
			return true;
	return false;
}

TEST(each_form_of_a_function_has_a_program)
{
	for (const struct hook_form *form = hook_forms; form->target; form++) {
		int found = 0;

		for (const struct hook *h = hooks; h->program; h++)
			found += !strcmp(h->target, form->target) && h->args == form->args;
		if (!found)
			fail_msg("no program is for %s with %d arguments", form->target, form->args);
	}
}

TEST(all_forms_of_a_function_answer_the_same_questions)
{
	for (const struct hook_form *form = hook_forms; form->target; form++)
		for (const struct hook *h = hooks; h->program; h++)
			if (!strcmp(h->target, form->target) && forms_of(h->target) > 1 && !has_alike(form, h))
				fail_msg("nothing answers %s for %s with %d arguments", h->metric, form->target,
					 form->args);
}

/* What a program notes when a function begins, another one takes back when it ends. */
TEST(what_begins_ends)
{
	for (const struct hook *h = hooks; h->program; h++) {
		bool ends = h->kind != HOOK_FENTRY || !strstr(h->program, "_enter");

		for (const struct hook *other = hooks; other->program; other++)
			ends |= other->kind == HOOK_FEXIT && !strcmp(other->target, h->target);
		if (!ends)
			fail_msg("nothing ends what %s begins", h->program);
	}
}
