/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The region of a network row, with packets, opens and resets by this namespace's own statistics:
 * nobody else is in it, while a tracepoint charges the current task with what a softirq does for
 * others.
 */
#ifndef COPYSCOPE_BASELINE_NET_REGION_H
#define COPYSCOPE_BASELINE_NET_REGION_H

#include "userspace/baseline/bench/work.h"

void net_region_begin(struct work *w);
void net_region_end(struct work *w);

/* Bytes that the path's device received on this side so far. */
double net_received_bytes(const struct work *w);

#endif
