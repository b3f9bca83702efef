/* SPDX-License-Identifier: GPL-2.0 */
/* Decides whether a run is made again that the kernel kept something of from the probes. */
#ifndef COPYSCOPE_RETRY_H
#define COPYSCOPE_RETRY_H

#include "userspace/record/experiment.h"
#include "userspace/run/supervise.h"

/* Notes in @r which attempt this is, and schedules it as asked. */
void retry_begin(struct record *r, const struct try *t);

/* Was something kept from the probes, and nothing else wrong, and is there an attempt left? */
bool retry_is_worth_it(const struct record *r);

/* Says why on stderr; returns what the supervisor is to be told. */
int retry_once_more(const struct record *r);

#endif
