// SPDX-License-Identifier: GPL-2.0
/* A1-8send: one send() for each of the 8 fields. */
#include "userspace/workload/send/sender.h"
#include "userspace/workload/stream/transfer.h"

static enum outcome a1_8send_send(struct sender *sender, struct message *message)
{
	enum outcome outcome = OUTCOME_OK;

	for (int i = 0; i < message->n_fields && outcome == OUTCOME_OK; i++)
		outcome = transfer_send(sender->connection, message->field[i].iov_base,
					message->field[i].iov_len);
	return outcome;
}

const struct variant variant_a1_8send = {
	.row = &variant_rows[VARIANT_a1_8send],
	.alloc = message_alloc_fields,
	.send = a1_8send_send,
};
