/* SPDX-License-Identifier: GPL-2.0 */
/* What TCP itself tells of a connection (TCP_INFO). */
#ifndef COPYSCOPE_BASELINE_TCP_INFO_H
#define COPYSCOPE_BASELINE_TCP_INFO_H

#include "studies/baseline/bench/work.h"

/* Retransmitted segments of a connection so far; NAN: not told. */
double tcp_retransmits(int fd);
bool tcp_established(int fd);

/* The shortest round trip that TCP measured, over the delay that was asked for; NAN: none. */
double tcp_delay_kept(const struct work *w, int fd);

/* Adds to w->how what kept a sender waiting. */
void tcp_tell_limits(struct work *w, int fd);

#endif
