/* SPDX-License-Identifier: GPL-2.0 */
/* Receive a stream of messages into fresh fields, in one of several ways, and check it. */
#ifndef WORKLOAD_RECEIVER_H
#define WORKLOAD_RECEIVER_H

#include "userspace/tables/receivers.h"
#include "userspace/workload/rings/rings.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/message.h"

struct receiver;

struct receive_method {
	const struct table_row *row;

	/* One of message_alloc_*(). */
	int (*alloc)(struct message *message, size_t bytes);

	/* Receive the whole message, through partial results. */
	enum outcome (*receive)(struct receiver *receiver);
};

/* Returns NULL when there is none of that name. */
const struct receive_method *receive_method_find(const char *name);

struct receive_manner {
	const struct receive_method *method;
	size_t bytes;
	bool fresh;         /* memory is allocated for each message, and freed after it */
	bool check_content; /* else no byte is read after recv has written it */
};

/* Where pages go that are received without a copy: through a pipe, or to an area where they are mapped. */
struct passage {
	int pipe[2];
	bool piped;
	void *area;
	size_t area_bytes;
};

struct receiver {
	struct connection *connection;
	struct receive_manner manner;
	struct content content;
	struct message message;
	struct passage passage;
	struct ring *ring; /* of io_uring; NULL: it receives otherwise */
};

/* Returns 0, or -ENOMEM after a complaint. */
int receiver_init(struct receiver *receiver, struct connection *connection,
		  const struct receive_manner *manner, enum content_direction direction);
void receiver_deinit(struct receiver *receiver);

/*
 * Receive one whole message, and check it if that is wanted. OUTCOME_EOF only between messages: the peer that
 * ends inside one has vanished. Counts bytes and errors; counting messages is the caller's.
 */
enum outcome receiver_receive(struct receiver *receiver);

#endif
