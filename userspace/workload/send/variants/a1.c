// SPDX-License-Identifier: GPL-2.0
/* A1: gather the 8 fields into one buffer with memcpy, then one send(). */
#include <string.h>

#include "userspace/common/bell/bell.h"
#include "userspace/workload/send/sender.h"
#include "userspace/workload/stream/transfer.h"

/* Tells an emulator's plugin which memory is gathered into, once for each buffer in turn. */
static void tell_staging(const struct message *message)
{
	static _Thread_local const char *told;

	if (told != message->staging && message->bytes) {
		bell_point(BELL_FIRST, message->staging);
		bell_point(BELL_LAST, message->staging + message->bytes - 1);
		told = message->staging;
	}
}

static enum outcome a1_send(struct sender *sender, struct message *message)
{
	struct connection *connection = sender->connection;
	size_t bytes = 0;

	tell_staging(message);
	bell_ring(BELL_GATHER_BEGINS);
	for (int i = 0; i < message->n_fields; i++) {
		const struct iovec *field = &message->field[i];

		memcpy(message->staging + bytes, field->iov_base, field->iov_len);
		bytes += field->iov_len;
		sender->gathered.bytes += field->iov_len;
	}
	bell_ring(BELL_GATHER_ENDS);
	sender->gathered.calls++;
	connection->totals.gather_bytes += bytes;
	return transfer_send(connection, message->staging, bytes);
}

const struct variant variant_a1 = {
	.row = &variant_rows[VARIANT_a1],
	.alloc = message_alloc_staged,
	.send = a1_send,
};
