/* SPDX-License-Identifier: GPL-2.0 */
/* Decides how a run ended, before anything is said of its numbers. Pure. */
#ifndef COPYSCOPE_OUTCOME_H
#define COPYSCOPE_OUTCOME_H

#include "userspace/record/experiment.h"

/* What waitpid said of one end. */
void end_outcome_read(struct end_outcome *end, int wait_status);

/* "the server" or "the client". */
const char *end_role(enum end end);

/* Takes it for a failure that an end had to be told to end, unless a signal had ended the run. */
void outcome_note_hurried(struct run_ends *ends);

/*
 * Fills r->outcome from how the two ends ended, from the workload's totals and from what the kernel
 * kept from the probes. The first of failed, interrupted, blind that applies.
 */
void outcome_decide(struct record *r);

/* Bytes that a sender was told were accepted and that nobody received. */
uint64_t outcome_undelivered_bytes(const struct record *r);

/* False if an end was cut short, bytes were on their way or none was sent: then laws that need both ends say nothing,
 * and the run is no success. */
bool outcome_is_sound(const struct record *r);

/*
 * Takes the word of laws that need both ends from a run that is not sound: not testable, with the numbers
 * as they were. Called after laws_fill.
 */
void outcome_excuse_laws(struct record *r);

#endif
