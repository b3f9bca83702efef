// SPDX-License-Identifier: GPL-2.0
/* Receive a stream of messages into fresh fields, in one of several ways, and check it. */
#include "userspace/workload/receiver.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/transfer.h"
#include "userspace/workload/ways.h"

static enum outcome receive_fields(struct receiver *receiver)
{
	const struct message *message = &receiver->message;
	enum outcome outcome = OUTCOME_OK;

	for (int i = 0; i < message->n_fields && outcome == OUTCOME_OK; i++)
		outcome = transfer_recv(receiver->connection, message->field[i].iov_base,
					message->field[i].iov_len, 0);
	return outcome;
}

static enum outcome receive_pieces(struct receiver *receiver)
{
	return transfer_recvmsg(receiver->connection, &receiver->message);
}

/* To no memory at all (net/ipv4/tcp.c, tcp_recvmsg_locked). */
static enum outcome drop_bytes(struct receiver *receiver)
{
	const struct message *message = &receiver->message;

	return transfer_recv(receiver->connection, message->field[0].iov_base, message->bytes, MSG_TRUNC);
}

/* Each byte to the staging buffer, and then, no byte more and no byte less, to the field. */
static enum outcome peek_first(struct receiver *receiver)
{
	const struct message *message = &receiver->message;
	enum outcome outcome = OUTCOME_OK;
	size_t taken = 0;

	while (taken < message->bytes && outcome == OUTCOME_OK) {
		ssize_t seen = recv(receiver->connection->fd, message->staging + taken,
				    message->bytes - taken, MSG_PEEK);

		if (!seen)
			return OUTCOME_EOF;
		if (seen < 0) {
			outcome = transfer_errno(receiver->connection, "recv(MSG_PEEK)");
			continue;
		}
		outcome = transfer_recv(receiver->connection, (char *)message->field[0].iov_base + taken, seen, 0);
		taken += seen;
	}
	return outcome;
}

static enum outcome receive_by_ring(struct receiver *receiver)
{
	return ring_receive(receiver->ring, receiver->connection, &receiver->message);
}

/* A piece may hold the end of one message and the start of the next. */
static enum outcome take_pieces(struct receiver *receiver)
{
	struct totals *totals = &receiver->connection->totals;
	size_t left = receiver->manner.bytes, bytes;
	const char *from;

	while (left) {
		enum outcome outcome = ring_next(receiver->ring, receiver->connection, left, &from, &bytes);

		if (outcome != OUTCOME_OK)
			return outcome == OUTCOME_EOF && left < receiver->manner.bytes ? OUTCOME_VANISHED : outcome;
		if (receiver->manner.check_content)
			totals->content_errors += content_check(&receiver->content, from, bytes);
		left -= bytes;
	}
	return OUTCOME_OK;
}

/* METHOD(symbol, its memory, how a message is received): a row for each of userspace/tables/receivers.h. */
#define METHOD(symbol, ...) \
	static const struct receive_method method_##symbol = { &receiver_rows[RECEIVER_##symbol], __VA_ARGS__ };

METHOD(recv, message_alloc_contiguous, receive_fields)
METHOD(perfield, message_alloc_fields, receive_fields)
METHOD(recvmsg, message_alloc_fields, receive_pieces)
METHOD(trunc, message_alloc_contiguous, drop_bytes)
METHOD(peek, message_alloc_twice, peek_first)
METHOD(splice, message_alloc_contiguous, splices_receive)
METHOD(map, message_alloc_contiguous, splices_map)
METHOD(ktls, message_alloc_contiguous, receive_fields)
METHOD(ktls_old, message_alloc_contiguous, receive_fields)
METHOD(uring, message_alloc_contiguous, receive_by_ring)
METHOD(uring_multishot, message_alloc_contiguous, take_pieces)

const struct receive_method *receive_method_find(const char *name)
{
#define ADDRESS(symbol, ...) &method_##symbol,
	static const struct receive_method *const methods[] = { RECEIVERS(ADDRESS) };
#undef ADDRESS
	int i = receiver_number(name);

	return i < 0 ? NULL : methods[i];
}

/* 0, or -ENOMEM after a complaint. */
static int open_ring(struct receiver *receiver, unsigned int traits)
{
	const struct ring_manner manner = {};

	if (!(traits & RECEIVER_RING))
		return 0;
	receiver->ring = ring_create(&manner, NULL, 0);
	if (receiver->ring && !(traits & RECEIVER_MULTISHOT && ring_provide(receiver->ring)))
		return 0;
	ring_destroy(receiver->ring);
	receiver->ring = NULL;
	return -ENOMEM;
}

int receiver_init(struct receiver *receiver, struct connection *connection,
		  const struct receive_manner *manner, enum content_direction direction)
{
	int err;

	*receiver = (struct receiver){ .connection = connection, .manner = *manner };
	content_begin(&receiver->content, direction);
	err = manner->method->alloc(&receiver->message, manner->bytes);
	if (err)
		complain("out of memory for messages of %zu bytes: use fewer bytes or threads",
			 manner->bytes);
	else
		err = open_ring(receiver, manner->method->row->traits);
	if (err)
		message_free(&receiver->message);
	return err;
}

void receiver_deinit(struct receiver *receiver)
{
	splices_close(receiver);
	if (receiver->ring && receiver->ring->inbox)
		ring_settle(receiver->ring, receiver->connection);
	ring_destroy(receiver->ring);
	message_free(&receiver->message);
}

/* Wrong bytes of a message, and of what was peeked of it before. */
static uint64_t wrong_bytes(struct receiver *receiver)
{
	const struct message *message = &receiver->message;
	struct content again = receiver->content;
	uint64_t wrong = message_check(message, &receiver->content);

	return wrong + (message->staged ? content_check(&again, message->staging, message->bytes) : 0);
}

enum outcome receiver_receive(struct receiver *receiver)
{
	struct connection *connection = receiver->connection;
	struct totals *totals = &connection->totals;
	unsigned int traits = receiver->manner.method->row->traits;
	uint64_t before_bytes = totals->received_bytes;
	enum outcome outcome;

	if (receiver->manner.fresh && message_replace(&receiver->message))
		return OUTCOME_FAILED;
	outcome = receiver->manner.method->receive(receiver);
	if (totals->received_bytes != before_bytes)
		connection_stamp(connection);
	if (outcome == OUTCOME_EOF && totals->received_bytes != before_bytes)
		return OUTCOME_VANISHED;
	if (outcome != OUTCOME_OK || !receiver->manner.check_content)
		return outcome;
	if (traits & RECEIVER_BLIND)
		content_skip(&receiver->content, receiver->manner.bytes);
	else if (!(traits & RECEIVER_MULTISHOT))
		totals->content_errors += wrong_bytes(receiver);
	return outcome;
}
