/* SPDX-License-Identifier: GPL-2.0 */
/* The two ways to find a partner: listen at an open port, or connect to one. */
#ifndef COPYSCOPE_HANDSHAKE_H
#define COPYSCOPE_HANDSHAKE_H

#include "userspace/path/path.h"
#include "userspace/peer/channel/run_request.h"
#include "userspace/peer/channel/session.h"

struct addrinfo;
struct sockaddr;

enum { NAME_OF_ADDRESS_BYTES = ADDRESS_BYTES + 16 };

/* What a host needs to find its partner. */
struct handshake {
	const struct path_partner *partner;
	const struct key *key;
	const char *kernel;
	bool quiet;
};

/*
 * Waits until a partner comes with the same key and with a plan that can be run, and fills in
 * @request and @session. Refuses every other caller; none of them delays another. Returns the
 * connection, or -errno with one line printed; -EINVAL if a key is missing.
 */
int handshake_wait(const struct handshake *m, struct run_request *request, struct session *session);

/* Connects to the partner and sends it @request. Returns as handshake_wait. */
int handshake_connect(const struct handshake *m, const struct run_request *request,
		      struct session *session);

/* Address of either side of a connection, without port; @name: with it. Empty if it is gone. */
void handshake_address(int fd, bool there, char address[ADDRESS_BYTES],
		     char name[NAME_OF_ADDRESS_BYTES]);

/* True if both ends of a connection, or the one end of a listening socket, must be on this
 * machine. */
bool handshake_is_local(int fd, bool connected);
bool address_is_local(const struct sockaddr *a);

/* Prints the line about a missing key. Always -EINVAL. */
int handshake_lacks_key(const char *name);

/* The numeric address of the partner; NULL if it is none. For freeaddrinfo. */
struct addrinfo *handshake_resolve(const struct path_partner *partner);

/* Lets the kernel notice after about 10 s that a host vanished. */
void handshake_notice_loss(int fd);

#endif
