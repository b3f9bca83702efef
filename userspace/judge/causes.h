/* SPDX-License-Identifier: GPL-2.0 */
/* Finds why bytes were copied that should have been referenced: of a socket, or of a sum of a run or a watch. Pure. */
#ifndef COPYSCOPE_CAUSES_H
#define COPYSCOPE_CAUSES_H

#include "userspace/record/record.h"
#include "userspace/record/watch_record.h"
#include "userspace/tables/causes.h"

/* Room for CAUSES_MAX. */
struct cause_list {
	struct cause *causes;
	int count;
};

/* Five of late copies, four of sends that copied at once, and a refusal for each of two limits, either, or one send
 * alone. */
enum { CAUSES_OF_MOVEMENTS = 13 };

/* What counts tell, without stacks. How many. */
int causes_of_movements(const struct watch_movements *m, struct cause causes[CAUSES_OF_MOVEMENTS]);

/* Of the sends that got ENOBUFS: those of sockets that had nothing in flight. */
uint64_t causes_refused_at_rest(const struct watch_movements *m);

/*
 * Adds what stacks tell of late copies and of reshaped bytes, where @sum knows these sites, and what counts tell of the
 * rest, unless @by_stacks_alone late copies have causes. The costliest first; causes without bytes last.
 */
void causes_of_sum(struct cause_list *list, const struct watch_movements *sum, const struct copy_stack *stacks,
		   int count, bool by_stacks_alone);

/* Fills r->causes. */
void causes_fill(struct record *r);

#endif
