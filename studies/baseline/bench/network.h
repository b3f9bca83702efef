/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private networks for the network rows: a loopback device, or two hosts with a real delay between
 * them. They have no name and so end with the process of the pass.
 */
#ifndef COPYSCOPE_BASELINE_NETWORK_H
#define COPYSCOPE_BASELINE_NETWORK_H

#include <netinet/in.h>

#include "studies/baseline/bench/bench.h"

enum side { NEAR, FAR };

struct net {
	int ns[2];			/* on loopback the same twice */
	struct in_addr far;		/* address of the peer */
	pid_t relay;			/* 0: the kernel delays, or nobody */
};

/* A network that was never made; ending it does nothing. */
#define NET_NONE { .ns = { -1, -1 } }

/* Leave this process on the near side. w->device and w->how are set. */
int net_loopback(struct work *w, struct net *n);
int net_remote(struct work *w, struct net *n);
/* A device that takes large packets in pieces, and nobody behind it. */
int net_nowhere(struct work *w, struct net *n);
void net_end(struct net *n);

/* For families that need nothing else: one of them as w->own, and its end. */
int net_own(struct work *w, bool remote);
void net_disown(struct work *w);

int net_enter(struct work *w, const struct net *n, enum side side);

#endif
