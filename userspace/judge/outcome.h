/* SPDX-License-Identifier: GPL-2.0 */
/* Decides how a run ended, before its numbers are used. Pure. */
#ifndef COPYSCOPE_OUTCOME_H
#define COPYSCOPE_OUTCOME_H

#include "userspace/record/experiment.h"

/* Reads the wait status of one end. */
void end_outcome_read(struct end_outcome *end, int wait_status);

/* It is a failure if an end did not end by itself, unless a signal had ended the run. */
void outcome_note_told(struct run_ends *ends);

/*
 * Fills r->outcome from how the two ends ended, from the workload's totals and from what the probes
 * missed. The first of failed, interrupted, blind that applies.
 */
void outcome_decide(struct record *r);

/* False if an end was cut short, bytes were on their way or none was sent: then laws that need both
 * ends cannot be tested, and the run is no success. */
bool outcome_is_sound(const struct record *r);

/* There is no verdict, as probes missed events: neither a success nor a law that broke. */
enum { EXIT_BLIND = 4 };

/* What a run exits with: 1 if it failed or a law broke, 128 + the number of the signal that ended it before
 * its time, as a shell says it, EXIT_BLIND if it was blind, else 0. */
int outcome_exit_status(const struct record *r);

/*
 * Makes laws that need both ends not testable in a run that is not sound, and keeps their numbers; and says
 * that tx_copy is not measured where bytes that never left make it less than nothing.
 * Call it after laws_fill.
 */
void outcome_excuse_laws(struct record *r);

#endif
