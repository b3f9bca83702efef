/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses, the listening socket, connecting; a socket for datagrams beside a connection. */
#ifndef WORKLOAD_ENDPOINT_H
#define WORKLOAD_ENDPOINT_H

#include <stdbool.h>
#include <sys/socket.h>

#include "userspace/workload/stream/connection.h"

/* Reads a numeric IPv4 or IPv6 address; returns false when @text is none. */
bool endpoint_parse(const char *text, unsigned int port, struct sockaddr_storage *address);

/* True if the other end of this socket has that address, at any port. "Any" has AF_UNSPEC. */
bool endpoint_is_from(int fd, const struct sockaddr_storage *address);

/* Returns a listening, non-blocking socket and its port, or dies. */
int endpoint_listen(const struct sockaddr_storage *address, bool shares_port, unsigned int *port);

void endpoint_set_port(struct sockaddr_storage *address, unsigned int port);

/*
 * Connects, for up to 2 s while nobody listens yet. Returns a socket, -1 after a complaint or
 * -EINTR (silent) when a signal asked to stop.
 */
int endpoint_connect(const struct sockaddr_storage *address);

/* How datagrams go. */
struct datagram_manner {
	size_t most_bytes;	/* of one; 0: as many as the route's MTU carries */
	bool each_alone;	/* the receiver takes each by itself, not several at once (UDP_GRO) */
};

/*
 * Gives the connection a UDP socket with the addresses and ports that it has: that becomes its .fd, and the TCP
 * socket, which carries no byte, its .lifeline. 0 or -errno after a complaint.
 */
int datagrams_open(struct connection *connection, const struct datagram_manner *manner);

/* Has the kernel cut no send any more: some devices take none that they would have to cut. */
void datagrams_send_one(struct connection *connection);

#endif
