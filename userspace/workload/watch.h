/* SPDX-License-Identifier: GPL-2.0 */
/* Ends a run that does not move, if its parent asked for it: then every wait has a bound. */
#ifndef WORKLOAD_WATCH_H
#define WORKLOAD_WATCH_H

#include "userspace/workload/run.h"

/* Without --patience nothing here ever ends a run. */
struct watch {
	uint64_t progress;    /* grows whenever something moves */
	uint64_t moved_ns;    /* when it last did */
	uint64_t deadline_ns; /* when the run was to end; 0: not known */
};

void watch_begin(struct watch *watch, const struct run *run);

/*
 * Call it now and then. If nothing has moved for as long as --patience allows (WATCH_DRAIN_NS once
 * the run's time is over), or if the queues have not drained WATCH_DRAIN_MOST_NS after that time,
 * it complains, marks the run as failed and asks every loop to end.
 */
#define WATCH_DRAIN_NS (10 * NS_PER_S)
#define WATCH_DRAIN_MOST_NS (60 * NS_PER_S)
void watch_step(struct watch *watch, struct run *run);

/* Joins all threads, with a step now and then. */
void watch_join_all(struct watch *watch, struct run *run);

#endif
