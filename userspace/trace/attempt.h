/* SPDX-License-Identifier: GPL-2.0 */
/* Decides whether a run is made again that the kernel kept something of from the probes. */
#ifndef COPYSCOPE_ATTEMPT_H
#define COPYSCOPE_ATTEMPT_H

#include "userspace/trace/record.h"
#include "userspace/trace/supervise.h"

/* Notes in @r which attempt this is, and schedules it as asked. */
void attempt_begin(struct record *r, const struct try *t);

/* Was something kept from the probes, and nothing else wrong, and is there an attempt left? */
bool attempt_is_worth_another(const struct record *r);

/* Says why on stderr; returns what the supervisor is to be told. */
int attempt_again(const struct record *r);

#endif
