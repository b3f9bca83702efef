/* SPDX-License-Identifier: GPL-2.0 */
/* The pairs of programs that measure what calls cost (--cost); private to the probes module. */
#ifndef COPYSCOPE_CALL_COST_H
#define COPYSCOPE_CALL_COST_H

#include "userspace/record/record.h"

struct bpf_object;
struct cost_probes;
struct targets;

/* Before load: opens the events of every CPU, chooses programs by @targets, and notes in @counts which
 * events there are. NULL if there is nothing to measure with; r->cost holds the reason. */
struct cost_probes *cost_probes_choose(struct bpf_object *object, const struct targets *targets,
				       bool counts[COST_EVENTS], struct record *r);

/* The programs newest attached run first: entries are attached before all others and exits after
 * them, so that no other program of ours lies between the two. NULL is accepted. */
int cost_probes_attach_entries(struct cost_probes *c, struct record *r);
int cost_probes_attach_exits(struct cost_probes *c, struct record *r);

/* Measures calls of an empty function; @calibrating is the programs' switch for it. */
void cost_probes_calibrate(struct cost_probes *c, volatile uint32_t *calibrating);

/* Sums over all CPUs into r->cost. Returns 0 or -errno. */
int cost_probes_read(const struct cost_probes *c, struct record *r);

/* Detaches and closes; NULL is accepted. */
void cost_probes_free(struct cost_probes *c);

#endif
