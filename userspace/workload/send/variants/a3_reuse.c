// SPDX-License-Identifier: GPL-2.0
/* A3-reuse: overwrite the buffer as soon as the send returns, which corrupts the stream. */
#include <string.h>

#include "userspace/workload/send/zerocopy.h"

#define SCRIBBLE 0xa5

static enum outcome a3_reuse_send(struct sender *sender, struct message *message)
{
	enum outcome outcome = zerocopy_send(sender, message);

	/*
	 * Filling the next message would overwrite this one too, but in the rr pattern only after
	 * the peer has all of it: too late to cause the errors that this variant is for.
	 */
	for (int i = 0; i < message->n_fields; i++)
		memset(message->field[i].iov_base, SCRIBBLE, message->field[i].iov_len);
	return outcome;
}

/* Read what has completed, so that the totals are right, but wait for nothing. */
static enum outcome a3_reuse_reap(struct sender *sender, struct message *message)
{
	bool got_any;

	return completions_read(&sender->completions, sender->connection, &got_any);
}

const struct variant variant_a3_reuse = {
	.row = &variant_rows[VARIANT_a3_reuse],
	.alloc = message_alloc_fields,
	.send = a3_reuse_send,
	.reap = a3_reuse_reap,
};
