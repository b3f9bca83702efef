/* SPDX-License-Identifier: GPL-2.0 */
/* Finds why bytes were copied that should have been referenced. Pure. */
#ifndef COPYSCOPE_CAUSES_H
#define COPYSCOPE_CAUSES_H

#include "userspace/record/record.h"

/* Room for CAUSES_MAX. */
struct cause_list {
	struct cause *causes;
	int count;
};

/* Adds the causes of a site, by the stacks that copied there. */
void causes_of_stacks(struct cause_list *list, const struct copy_stack *stacks, int count, enum site site);

/* The costliest first; causes without bytes last. */
void causes_sort(struct cause_list *list);

/* Fills r->causes. */
void causes_fill(struct record *r);

#endif
