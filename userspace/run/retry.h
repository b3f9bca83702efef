/* SPDX-License-Identifier: GPL-2.0 */
/* Decides whether to repeat a run whose probes missed events. */
#ifndef COPYSCOPE_RETRY_H
#define COPYSCOPE_RETRY_H

#include "userspace/record/experiment.h"
#include "userspace/run/supervise.h"

/* Schedules what this process does and starts from now on, under SCHED_FIFO if asked; notes it in @r. */
void retry_schedule(struct record *r, bool fifo);

/* Only notes how it is scheduled: a pass without programs needs nothing else. */
void retry_note_schedule(struct record *r);

/* True if the probes missed events, nothing else is wrong, and a try is left. */
bool retry_is_worth_it(const struct record *r);

/* Prints the reason on stderr; returns what the supervisor needs. */
int retry_once_more(const struct record *r);

#endif
