/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the programs saw each socket begin and end: perf counts the same tracepoints beside them.
 *
 * A kernel may run no program while certain tasks are current (docs/METHOD.md), or skip one that is
 * interrupted; sockets end in softirq, on top of any task. Then a book is lost without a sign.
 */
#ifndef COPYSCOPE_WATCH_UNSEEN_H
#define COPYSCOPE_WATCH_UNSEEN_H

#include "userspace/probes/watch/watch_parts.h"

/* Opens a counter for each hook; where tracefs or perf refuse, nothing checks them. */
void unseen_open(struct watch_probes *p);

/* Call it when the hooks are attached and the window opens. */
void unseen_begin(struct watch_probes *p);

/* Notes in each probe that is checked how many hits its program missed until now. */
void unseen_note(const struct watch_probes *p, struct probe *probes);

#endif
