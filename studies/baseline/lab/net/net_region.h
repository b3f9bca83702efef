/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The region of a network row, with packets, opens and resets by the statistics of this private
 * namespace. A tracepoint would also count what a softirq does for others while our task is current.
 */
#ifndef COPYSCOPE_BASELINE_NET_REGION_H
#define COPYSCOPE_BASELINE_NET_REGION_H

#include "studies/baseline/bench/work.h"

void net_region_begin(struct work *w);
void net_region_end(struct work *w);

/* Bytes that the path's device received on this side so far. */
double net_received_bytes(const struct work *w);

#endif
