// SPDX-License-Identifier: GPL-2.0
/* A1-plain: the message is one contiguous buffer, one send(). */
#include "userspace/workload/send/sender.h"
#include "userspace/workload/stream/transfer.h"

static enum outcome a1_plain_send(struct sender *sender, struct message *message)
{
	return transfer_send(sender->connection, message->field[0].iov_base, message->bytes);
}

const struct variant variant_a1_plain = {
	.row = &variant_rows[VARIANT_a1_plain],
	.alloc = message_alloc_contiguous,
	.send = a1_plain_send,
};
