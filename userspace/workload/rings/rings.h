/* SPDX-License-Identifier: GPL-2.0 */
/* Moves messages by io_uring, on a ring of its own for each connection. */
#ifndef WORKLOAD_RINGS_H
#define WORKLOAD_RINGS_H

#include <liburing.h>

#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/message.h"

struct ring_manner {
	bool by_reference;	/* SEND_ZC, not SEND */
	bool registered;	/* from registered memory */
	bool polled;		/* a thread of the kernel submits: IORING_SETUP_SQPOLL */
};

struct ring {
	struct io_uring io;
	struct ring_manner manner;
	struct message *pool;	/* what is sent from; NULL: the ring receives */
	unsigned int pool_size;
	uint64_t newest;	/* request */
	bool ended;		/* it has */
	int result;		/* of it: bytes or -errno */
	struct ring_inbox *inbox;	/* of a multishot receive, or NULL */
	uint64_t unsent;	/* a request that failed, but will be notified; 0: none */
};

/* With room for a notification of each message of the pool. NULL after a complaint. */
struct ring *ring_create(const struct ring_manner *manner, struct message *pool, unsigned int pool_size);
void ring_destroy(struct ring *ring);

/* Sends the whole message of the pool, through partial sends. */
enum outcome ring_send(struct ring *ring, struct connection *connection, struct message *message);

/* Waits for the notification of every send of @message. */
enum outcome ring_reap(struct ring *ring, struct connection *connection, struct message *message);

/* IORING_OP_RECV until the message is whole. */
enum outcome ring_receive(struct ring *ring, struct connection *connection, const struct message *message);

/* Gives the ring memory for a multishot receive. 0, or -errno after a complaint. */
int ring_provide(struct ring *ring);

/*
 * The next @bytes of the stream, at most @most, and where they lie until the next call. One request, IORING_OP_RECV
 * with IORING_RECV_MULTISHOT, receives until the stream ends or the memory is full.
 */
enum outcome ring_next(struct ring *ring, struct connection *connection, size_t most, const char **from, size_t *bytes);

/* Ends a multishot receive that is under way, and counts what it has received. */
void ring_settle(struct ring *ring, struct connection *connection);
void ring_inbox_free(struct ring_inbox *inbox);

/* A signal or the deadline ends even a receive inside a message. */
bool ring_is_to_end(const struct connection *connection);

/* Reads the completions that are there. */
void ring_read(struct ring *ring, struct connection *connection);

/* Submits what is prepared, waits at most STOP_TICK_MS for a completion, reads. */
enum outcome ring_turn(struct ring *ring, struct connection *connection);

/*
 * Gives the prepared request the number of the newest, with the place of its message in the pool, and waits for its
 * result: OUTCOME_OK, and it is in the ring. A request that waits for the socket ends if a signal asks to stop.
 */
enum outcome ring_request(struct ring *ring, struct connection *connection, struct io_uring_sqe *sqe,
			  unsigned int place);

/* The meaning of -@result of the named request; OUTCOME_OK is "try again". */
enum outcome ring_errno(struct connection *connection, int result, const char *request);

#endif
