// SPDX-License-Identifier: GPL-2.0
/* Receive a stream of messages into fresh fields, in one of three ways, and check it. */
#include <string.h>

#include "userspace/workload/receiver.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/transfer.h"

static enum outcome receive_fields(struct connection *connection, const struct message *message)
{
	enum outcome outcome = OUTCOME_OK;

	for (int i = 0; i < message->n_fields && outcome == OUTCOME_OK; i++)
		outcome = transfer_recv(connection, message->field[i].iov_base,
					message->field[i].iov_len);
	return outcome;
}

const struct receive_method receive_methods[] = {
	{ "recv", "recv() into one buffer", message_alloc_contiguous, receive_fields },
	{ "perfield", "recv() into each of 8 fields", message_alloc_fields, receive_fields },
	{ "recvmsg", "recvmsg() with 8 iovecs", message_alloc_fields, transfer_recvmsg },
	{ 0 },
};

const struct receive_method *receive_method_find(const char *name)
{
	for (const struct receive_method *method = receive_methods; method->name; method++)
		if (!strcmp(method->name, name))
			return method;
	return NULL;
}

int receiver_init(struct receiver *receiver, struct connection *connection,
		  const struct receive_manner *manner, enum content_direction direction)
{
	int err;

	*receiver = (struct receiver){ .connection = connection, .manner = *manner };
	content_begin(&receiver->content, direction);
	err = manner->method->alloc(&receiver->message, manner->bytes);
	if (err) {
		complain("out of memory for messages of %zu bytes: use fewer bytes or threads",
			 manner->bytes);
		message_free(&receiver->message);
	}
	return err;
}

void receiver_deinit(struct receiver *receiver)
{
	message_free(&receiver->message);
}

enum outcome receiver_receive(struct receiver *receiver)
{
	struct connection *connection = receiver->connection;
	struct totals *totals = &connection->totals;
	uint64_t before_bytes = totals->received_bytes;
	enum outcome outcome;

	if (receiver->manner.fresh) {
		message_release(&receiver->message);
		if (message_renew(&receiver->message)) {
			complain("out of memory for a message of %zu bytes", receiver->manner.bytes);
			return OUTCOME_FAILED;
		}
	}
	outcome = receiver->manner.method->receive(connection, &receiver->message);
	if (totals->received_bytes != before_bytes)
		connection_stamp(connection);
	if (outcome == OUTCOME_EOF && totals->received_bytes != before_bytes)
		return OUTCOME_VANISHED;
	if (outcome == OUTCOME_OK && receiver->manner.check_content)
		totals->content_errors += message_check(&receiver->message, &receiver->content);
	return outcome;
}
