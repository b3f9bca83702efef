/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the programs ran for each packet and notification: perf counts the same tracepoints beside them.
 *
 * A kernel may run no program while certain tasks are current (docs/METHOD.md), and work in softirq runs on
 * top of any task. Sockets that begin and end unseen are found by bpf/include/census.bpf.h, packets that
 * leave a watched socket by what TCP says it sent.
 */
#ifndef COPYSCOPE_HITS_H
#define COPYSCOPE_HITS_H

#include "userspace/engine/engine_inside.h"

/* Opens a counter for each hook that needs one and may be attached, which counts nothing yet; where tracefs or
 * perf refuse, nothing checks them. */
void hits_open(struct engine *p);

/* Starts the counters of the hooks that are attached. Packets that pass in between shift nothing. */
void hits_begin(struct engine *p);

/* Notes in each probe that is checked how many hits its program missed until now. */
void hits_note(const struct engine *p, struct probe *probes);

#endif
