/* SPDX-License-Identifier: GPL-2.0 */
/* Moves whole buffers and messages through partial results, EINTR and time-outs. */
#ifndef WORKLOAD_TRANSFER_H
#define WORKLOAD_TRANSFER_H

#include <stddef.h>

#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/message.h"

/*
 * Each returns OUTCOME_OK when everything moved, else why not (OUTCOME_EOF only from receive
 * calls); @flags beside MSG_NOSIGNAL; totals count what moved in any case.
 */
enum outcome transfer_send(struct connection *connection, const void *from, size_t bytes, int flags);
enum outcome transfer_sendmsg(struct connection *connection, const struct message *message);
enum outcome transfer_recv(struct connection *connection, void *to, size_t bytes, int flags);
enum outcome transfer_recvmsg(struct connection *connection, const struct message *message);

/* A send call took @bytes. */
static inline void transfer_sent(struct connection *connection, size_t bytes)
{
	connection->totals.send_calls++;
	connection->totals.accepted_bytes += bytes;
}

/* The meaning of errno after the named call: OUTCOME_OK is "try again". */
enum outcome transfer_errno(const struct connection *connection, const char *call);

/* A message header over a copy of the message's fields that may be consumed. */
struct transfer_cursor {
	struct iovec field[MESSAGE_FIELDS];
	struct msghdr header;
	size_t left_bytes;
};

void transfer_cursor_init(struct transfer_cursor *cursor, const struct message *message);
void transfer_cursor_advance(struct transfer_cursor *cursor, size_t bytes);

#endif
