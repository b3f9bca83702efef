/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections through a private network, and a peer that drains one. */
#ifndef COPYSCOPE_BASELINE_CONNECTION_H
#define COPYSCOPE_BASELINE_CONNECTION_H

#include "studies/baseline/lab/net/network.h"

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
 * Starts the child on the far side and connects to it. Returns the descriptor, or -errno;
 * drain_free is to be called in either case.
 */
int drain_start(struct work *w, struct drain *d, const struct net *n);

/* Ends sending, waits until the last byte has arrived, and returns how many came. */
uint64_t drain_wait(struct drain *d, int fd);
void drain_free(struct drain *d);

#endif
