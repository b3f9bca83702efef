// SPDX-License-Identifier: GPL-2.0
/* A2: one sendmsg() with 8 iovecs; the kernel gathers. */
#include "userspace/workload/send/sender.h"
#include "userspace/workload/stream/transfer.h"

static enum outcome a2_send(struct sender *sender, struct message *message)
{
	return transfer_sendmsg(sender->connection, message);
}

const struct variant variant_a2 = {
	.row = &variant_rows[VARIANT_a2],
	.alloc = message_alloc_fields,
	.send = a2_send,
};
