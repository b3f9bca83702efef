/* SPDX-License-Identifier: GPL-2.0 */
/* Send a stream of messages by one variant, from a pool of message buffers. */
#ifndef WORKLOAD_SENDER_H
#define WORKLOAD_SENDER_H

#include "userspace/tables/behaviours.h"
#include "userspace/workload/rings/rings.h"
#include "userspace/workload/variant.h"

/*
 * A pool holds as many messages as fit in POOL_BYTES, but at least 2 and at most POOL_MAX, and no more
 * than will be sent. It
 * must outlast the acknowledgements: with 64 messages of 4,096 bytes over loopback the sender
 * spent a third of its time waiting for a free one, with 256 no more than with 1,024.
 */
#define SENDER_POOL_BYTES (4u << 20)
#define SENDER_POOL_MAX 256

/* A cache line of its own: the thread of another sender writes to what lies before and after. */
#define SENDER_ALIGN_BYTES 64

struct send_manner {
	const struct variant *variant;
	size_t bytes;
	size_t piece_bytes; /* that are read and sent at a time; 0: all */
	unsigned int behaviours;
	bool check_content; /* else messages are filled once, unless their memory is fresh */
	uint64_t messages;  /* that will be sent; 0: not known */
};

/* What was copied in user space, field by field: told to a tracer when the connection ends. */
struct gathered {
	uint64_t bytes, calls;
};

struct sender {
	struct connection *connection;
	struct send_manner manner;
	struct content content;
	struct completions completions;
	struct gathered gathered;
	uint64_t under_way;	/* datagrams that the receiver has not told of, by their cost */
	bool answered;		/* it has told that it is there */
	unsigned int n_messages, next;
	int pipe[2];		/* that spliced pages pass, if .pipe_open */
	bool pipe_open;
	struct ring *ring;	/* of io_uring; NULL: it sends otherwise */
	struct message message[SENDER_POOL_MAX];
} __attribute__((aligned(SENDER_ALIGN_BYTES)));

/* Allocates the pool, and fills it unless each message is filled anew. NULL after a complaint. */
struct sender *sender_create(const struct send_manner *manner);
void sender_destroy(struct sender *sender);

/* Sets SO_ZEROCOPY, begins TLS, or has a thread of the kernel's start, if the variant wants it. Returns 0, or -errno
 * after a complaint. */
int sender_connect(struct sender *sender, struct connection *connection);

/* Wait for free memory, fill it with the next content if that is checked, send it, count it. */
enum outcome sender_send(struct sender *sender);

/* Sends on the connection of @last from now on, where all that others sent has been acknowledged and notified. */
void sender_take_turn(struct sender *sender, const struct sender *last);

/* Waits for the notification of every send. */
enum outcome sender_settle(struct sender *sender);

/*
 * Shut down writing, then wait for the peer's close and for outstanding completions, until
 * nothing has moved for @quiet_ns (0.1 s once a signal asked to stop, and 0.7 s in all). Missing
 * completions become completion_errors, unless a signal cut the wait short. Returns OUTCOME_OK, or
 * OUTCOME_FAILED after a complaint if bytes were left that nobody acknowledged.
 */
enum outcome sender_finish(struct sender *sender, uint64_t quiet_ns);

#endif
