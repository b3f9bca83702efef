// SPDX-License-Identifier: GPL-2.0
/* How each variant sends a message, and when the message's memory may be used again. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/guest_marker.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/transfer.h"
#include "userspace/workload/variant.h"
#include "userspace/workload/ways.h"

/* What memory that is given up in flight is overwritten with. */
#define SCRIBBLE 0xa5

/* Tells an emulator's plugin which memory is gathered into, once for each buffer in turn. */
static void tell_staging(const struct message *message)
{
	static _Thread_local const char *told;

	if (told != message->staging && message->bytes) {
		marker_point(MARKER_FIRST, message->staging);
		marker_point(MARKER_LAST, message->staging + message->bytes - 1);
		told = message->staging;
	}
}

static enum outcome gather_and_send(struct sender *sender, struct message *message)
{
	struct connection *connection = sender->connection;
	size_t bytes = 0;

	tell_staging(message);
	marker_store(MARKER_GATHER_BEGINS);
	for (int i = 0; i < message->n_fields; i++) {
		const struct iovec *field = &message->field[i];

		memcpy(message->staging + bytes, field->iov_base, field->iov_len);
		bytes += field->iov_len;
		sender->gathered.bytes += field->iov_len;
	}
	marker_store(MARKER_GATHER_ENDS);
	sender->gathered.calls++;
	connection->totals.gather_bytes += bytes;
	return transfer_send(connection, message->staging, bytes, 0);
}

static enum outcome send_whole(struct sender *sender, struct message *message)
{
	return transfer_send(sender->connection, message->field[0].iov_base, message->bytes, 0);
}

/* What sendfile() spares, the copy out of the page cache, is in no book: no socket takes part in it. */
static enum outcome read_and_send(struct sender *sender, struct message *message)
{
	size_t most = sender->manner.piece_bytes ? sender->manner.piece_bytes : message->bytes;
	enum outcome outcome = OUTCOME_OK;

	for (size_t at = 0; at < message->bytes && outcome == OUTCOME_OK; at += most) {
		size_t bytes = message->bytes - at < most ? message->bytes - at : most;
		ssize_t got = pread(message->file, message->staging, bytes, at);

		if (got != (ssize_t)bytes) {
			complain("cannot read a message from its file: %s", got < 0 ? strerror(errno) : "it is shorter");
			return OUTCOME_FAILED;
		}
		outcome = transfer_send(sender->connection, message->staging, bytes, 0);
	}
	return outcome;
}

static enum outcome send_fields(struct sender *sender, struct message *message, int flags)
{
	enum outcome outcome = OUTCOME_OK;
	int last = message->n_fields - 1;

	for (int i = 0; i <= last && outcome == OUTCOME_OK; i++)
		outcome = transfer_send(sender->connection, message->field[i].iov_base,
					message->field[i].iov_len, i < last ? flags : 0);
	return outcome;
}

static enum outcome send_each_field(struct sender *sender, struct message *message)
{
	return send_fields(sender, message, 0);
}

static enum outcome send_more(struct sender *sender, struct message *message)
{
	return send_fields(sender, message, MSG_MORE);
}

static enum outcome sendmsg_fields(struct sender *sender, struct message *message)
{
	return transfer_sendmsg(sender->connection, message);
}

static enum outcome zerocopy_send_and_overwrite(struct sender *sender, struct message *message)
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

static enum outcome by_ring(struct sender *sender, struct message *message)
{
	return ring_send(sender->ring, sender->connection, message);
}

static enum outcome ring_notified(struct sender *sender, struct message *message)
{
	return ring_reap(sender->ring, sender->connection, message);
}

/* Reads what has completed, so that the totals are right, and waits for nothing. */
static enum outcome read_completions(struct sender *sender, struct message *message)
{
	bool got_any;

	return completions_read(&sender->completions, sender->connection, &got_any);
}

/* VARIANT(symbol, whether it has several messages in turn, their memory, how one is sent, what is awaited
 * before its memory is used again): a row for each of userspace/tables/variants.h. */
#define VARIANT(symbol, ...) \
	static const struct variant variant_##symbol = { &variant_rows[VARIANT_##symbol], __VA_ARGS__ };

VARIANT(a1, false, message_alloc_staged, gather_and_send, NULL)
VARIANT(a1_plain, false, message_alloc_contiguous, send_whole, NULL)
VARIANT(a1_8send, false, message_alloc_fields, send_each_field, NULL)
VARIANT(a2, false, message_alloc_fields, sendmsg_fields, NULL)
VARIANT(a2_more, false, message_alloc_fields, send_more, NULL)
VARIANT(a3, true, message_alloc_fields, zerocopy_send, zerocopy_reap)
VARIANT(a3_aligned, true, message_alloc_aligned, zerocopy_send, zerocopy_reap)
VARIANT(a3_whole, true, message_alloc_contiguous, zerocopy_send, zerocopy_reap)
/* Since 5cf4a8532c99 ("tcp: really ignore MSG_ZEROCOPY if no SO_ZEROCOPY") an ordinary send. */
VARIANT(a3_unset, false, message_alloc_fields, zerocopy_send, NULL)
VARIANT(a3_unreaped, true, message_alloc_fields, zerocopy_send, zerocopy_reap_acknowledged)
VARIANT(a3_aligned_unreaped, true, message_alloc_aligned, zerocopy_send, zerocopy_reap_acknowledged)
VARIANT(a3_reuse, false, message_alloc_fields, zerocopy_send_and_overwrite, read_completions)
VARIANT(sendfile, false, message_alloc_file, splices_sendfile, splices_renew)
VARIANT(splice, false, message_alloc_file, splices_splice, splices_renew)
VARIANT(vmsplice, false, message_alloc_mapped, splices_vmsplice, splices_renew)
VARIANT(vmsplice_gift, false, message_alloc_mapped, splices_gift, splices_renew)
VARIANT(ktls, false, message_alloc_contiguous, send_whole, NULL)
VARIANT(ktls_old, false, message_alloc_contiguous, send_whole, NULL)
VARIANT(ktls_more, false, message_alloc_fields, send_more, NULL)
VARIANT(ktls_sendfile, false, message_alloc_file, splices_sendfile, splices_renew)
VARIANT(ktls_sendfile_old, false, message_alloc_file, splices_sendfile, splices_renew)
VARIANT(uring, false, message_alloc_contiguous, by_ring, NULL)
VARIANT(uring_zc, true, message_alloc_contiguous, by_ring, ring_notified)
VARIANT(uring_zc_fixed, true, message_alloc_contiguous, by_ring, ring_notified)
VARIANT(uring_zc_sqpoll, true, message_alloc_contiguous, by_ring, ring_notified)
VARIANT(udp, false, message_alloc_contiguous, datagrams_send, NULL)
VARIANT(udp_each, false, message_alloc_contiguous, datagrams_send_each, NULL)
VARIANT(udp_zc, true, message_alloc_contiguous, datagrams_send, zerocopy_reap)
VARIANT(a1_file, false, message_alloc_file_staged, read_and_send, NULL)

const struct variant *variant_find(const char *name)
{
#define ADDRESS(symbol, ...) &variant_##symbol,
	static const struct variant *const variants[] = { VARIANTS(ADDRESS) };
#undef ADDRESS
	int i = variant_number(name);

	return i < 0 ? NULL : variants[i];
}
