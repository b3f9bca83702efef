/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections through a private network, and what the kernel tells of them. */
#ifndef COPYSCOPE_BASELINE_CONNECTION_H
#define COPYSCOPE_BASELINE_CONNECTION_H

#include "studies/baseline/bench/network.h"

/* A socket that listens on the far side, and its port; or -errno. */
int connection_listen(struct work *w, const struct net *n, in_port_t *port);

/* Connected to it, without delay of small segments; or -errno. */
int connection_open(struct work *w, const struct net *n, in_port_t port);

/* A child that reads all that comes by one connection. */
struct drain {
	pid_t pid;
	uint64_t *arrived;		/* bytes so far; shared with it */
};

/*
 * Starts the child on the far side and connects to it. It answers each @turn_bytes by a byte, if that is
 * not 0. Returns the descriptor, or -errno; drain_free is to be called in either case.
 */
int drain_start(struct work *w, struct drain *d, const struct net *n, uint64_t turn_bytes);

/* Ends sending, waits until the last byte has arrived, and returns how many came. */
uint64_t drain_wait(struct drain *d, int fd);
void drain_free(struct drain *d);

/*
 * The region of a network row, with packets, opens and resets by the statistics of this private
 * namespace. A tracepoint would also count what a softirq does for others while our task is current.
 */
void net_region_begin(struct work *w);
void net_region_end(struct work *w);

/* Bytes that the path's device received on this side so far. */
double net_received_bytes(const struct work *w);

/* Retransmitted segments of a connection so far; NAN: not told. */
double tcp_retransmits(int fd);
bool tcp_established(int fd);

/* The shortest round trip that TCP measured, over the delay that was asked for; NAN: none. */
double tcp_delay_kept(const struct work *w, int fd);

/* Adds to w->how what kept a sender waiting. */
void tcp_tell_limits(struct work *w, int fd);

#endif
