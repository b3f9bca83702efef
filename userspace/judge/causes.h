/* SPDX-License-Identifier: GPL-2.0 */
/* Finds why bytes were copied that should have been referenced. Pure. */
#ifndef COPYSCOPE_CAUSES_H
#define COPYSCOPE_CAUSES_H

#include "userspace/record/record.h"
#include "userspace/tables/causes.h"

/* Room for CAUSES_MAX. */
struct cause_list {
	struct cause *causes;
	int count;
};

/* Adds to the list's cause of that name, site and stack, which it makes if there is none. @stack is empty unless the
 * cause is unknown. */
struct cause *cause_add(struct cause_list *list, enum known known, enum site site, const char *stack,
			struct tally tally);

/* Adds a reason for which sends were refused; none if there were none. @why: the cause has no bytes. */
void cause_add_refused(struct cause_list *list, enum known known, uint64_t sends, const char *why);

/* Adds why sends copied that asked not to, by these counts. */
void causes_of_sends(struct cause_list *list, const unsigned long long count[COUNT_COUNT]);

/* Adds the causes of a site, by the stacks that copied there. */
void causes_of_stacks(struct cause_list *list, const struct copy_stack *stacks, int count, enum site site);

/* The costliest first; causes without bytes last. */
void causes_sort(struct cause_list *list);

/* Fills r->causes. */
void causes_fill(struct record *r);

#endif
