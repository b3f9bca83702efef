/* SPDX-License-Identifier: GPL-2.0 */
/* Decides whether to repeat a run whose probes missed events. */
#ifndef COPYSCOPE_RETRY_H
#define COPYSCOPE_RETRY_H

#include "userspace/record/experiment.h"
#include "userspace/run/supervise.h"

/* Notes in @r which attempt this is, and schedules it as asked. */
void retry_begin(struct record *r, const struct try *t);

/* True if the probes missed events, nothing else is wrong, and an attempt is left. */
bool retry_is_worth_it(const struct record *r);

/* Prints the reason on stderr; returns what the supervisor needs. */
int retry_once_more(const struct record *r);

#endif
