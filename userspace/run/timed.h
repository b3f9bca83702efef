/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timed pass: the run without a probe, in a process of its own, before any program is loaded.
 *
 * It gives up its privileges as the process that measures does, which keeps its own for the counted
 * pass. What it leaves lies in memory that outlives a try, so a counted pass that was blind is made
 * again alone.
 */
#ifndef COPYSCOPE_TIMED_H
#define COPYSCOPE_TIMED_H

#include "userspace/record/experiment.h"

struct timed_pass;

/* Call it before the first try. NULL with one line printed. */
struct timed_pass *timed_share(void);

/* The seconds of one of two passes that share @both. */
double pass_seconds(double both, bool timed);

/* True if an earlier try has made it. */
bool timed_done(const struct timed_pass *shared);

/* In the process of the pass: hands over what @r has of it. */
void timed_hand_over(struct timed_pass *shared, const struct record *r);

/*
 * Calls @make in a child and waits for it; ending.h bounds what the child waits for. Signals are passed on
 * to it, and 2 s after the first it is killed. Returns the exit status of @make; if the child was killed,
 * 0 and a reason in @failure, which is otherwise empty.
 */
int timed_make(int (*make)(void *arg), void *arg, char failure[WHY_BYTES]);

/*
 * What was handed over; the caller's to free. If there is nothing, a pass of which nothing is known, which
 * failed for the reason @failure. NULL: out of memory.
 */
struct pass *timed_take(const struct timed_pass *shared, const char *failure);

#endif
