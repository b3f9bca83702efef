/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private networks for the network rows: a loopback device, or two hosts with a real delay between
 * them. Nameless, so they end with the process of the pass.
 */
#ifndef COPYSCOPE_BASELINE_NET_H
#define COPYSCOPE_BASELINE_NET_H

#include <netinet/in.h>

#include "userspace/baseline/bench/work.h"

enum side { NEAR, FAR };

struct net {
	int ns[2];			/* on loopback the same twice */
	struct in_addr far;		/* address of the peer */
	pid_t relay;			/* 0: the kernel delays, or nobody */
};

/* Leave this process on the near side. w->device and w->how are set. */
int net_loopback(struct work *w, struct net *n);
int net_remote(struct work *w, struct net *n);
void net_end(struct net *n);

int net_enter(struct work *w, const struct net *n, enum side side);

/* A socket that listens on the far side, and its port; or -errno. */
int net_listen(struct work *w, const struct net *n, in_port_t *port);

/* Connected to it, without delay of small segments; or -errno. */
int net_connect(struct work *w, const struct net *n, in_port_t port);

/* Retransmitted segments of a connection so far, and whether it is established. */
double net_retransmits(int fd);
bool net_established(int fd);

/* Adds to w->how what kept a sender waiting, as TCP itself tells (TCP_INFO). */
void net_tell_limits(struct work *w, int fd);

/* The shortest round trip that TCP measured, over the delay that was asked for; NAN: none. */
double net_delay_kept(const struct work *w, int fd);

/* Bytes that the path's device received on this side. */
double net_received_bytes(const struct work *w);

/*
 * The region, with packets, opens and resets by this namespace's own statistics: nobody else is in
 * it, while a tracepoint charges the current task with what a softirq does for others.
 */
void net_region_begin(struct work *w);
void net_region_end(struct work *w);

/*
 * The path without help of the kernel: two TUN devices, and a child that carries every packet from
 * one to the other @delay_ns later. It owns both descriptors. Returns its pid or -errno.
 */
pid_t relay_start(const int tun[2], uint64_t delay_ns);

#endif
