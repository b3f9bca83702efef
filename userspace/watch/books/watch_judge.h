/* SPDX-License-Identifier: GPL-2.0 */
/* How each number of a watch is known, which verdict each process gets. Pure. */
#ifndef COPYSCOPE_WATCH_BOOKS_WATCH_JUDGE_H
#define COPYSCOPE_WATCH_BOOKS_WATCH_JUDGE_H

#include "userspace/record/watch_record.h"

/* How a site is known where it is. */
enum how watch_site_how(const struct watch_record *r, enum site site);

/* Fills sites[] and count_why[] of the total; @r has its probes and its sums. */
void watch_sites_fill(struct watch_record *r);

/* Which row of the table of verdicts (record/watch_record.h). */
enum verdict_of_process watch_verdict(const struct watch_sum *sum);

/* Judges every process. */
void watch_verdicts_fill(struct watch_record *r);

/* How many laws are broken. */
int watch_laws_broken(const struct watch_record *r);

/* True if the sums may be short of something, with one line in @why: say so before any of them. */
bool watch_sums_short(const struct watch_record *r, char why[WHY_BYTES]);

/* The causes of the total: of copies by these stacks, where there are any. */
void watch_causes_fill(struct watch_record *r, const struct copy_stack *stacks, int count);

/* Gives each process the histograms of its calls, and weighs them; @strays: sockets whose calls were sized before it
 * was known that they are the subject's. 0 or -ENOMEM. */
int watch_sizes_fill(struct watch_record *r, uint64_t strays);
/* Holds what stacks have against what the sockets moved by their sequence numbers. */
void watch_stacks_weigh(struct watch_record *r);

#endif
