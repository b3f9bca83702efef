// SPDX-License-Identifier: GPL-2.0
/* Move whole buffers and messages through partial results, EINTR and time-outs. */
#include <errno.h>
#include <string.h>

#include "userspace/common/clock.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"
#include "userspace/workload/stream/transfer.h"

enum outcome transfer_errno(const struct connection *connection, const char *call)
{
	switch (errno) {
	case EINTR:
	case EAGAIN:
		if (stop_requested() || (connection->cut_at_deadline &&
					 monotonic_ns() >= connection->deadline_ns))
			return OUTCOME_STOPPED;
		return OUTCOME_OK;
	case ECONNRESET:
	case ECONNABORTED:
	case EPIPE:
	case ETIMEDOUT:
	case ENETUNREACH:
	case EHOSTUNREACH:
		return OUTCOME_VANISHED;
	default:
		complain("%s on the connection to %s: %s", call, connection->remote,
			 strerror(errno));
		return OUTCOME_FAILED;
	}
}

enum outcome transfer_send(struct connection *connection, const void *from, size_t bytes, int flags)
{
	enum outcome outcome;
	const char *at = from;

	while (bytes) {
		ssize_t sent = send(connection->fd, at, bytes, MSG_NOSIGNAL | flags);

		if (sent < 0) {
			outcome = transfer_errno(connection, "send");
			if (outcome != OUTCOME_OK)
				return outcome;
			continue;
		}
		transfer_sent(connection, sent);
		at += sent;
		bytes -= sent;
	}
	return OUTCOME_OK;
}

enum outcome transfer_recv(struct connection *connection, void *to, size_t bytes, int flags)
{
	enum outcome outcome;
	char *at = to;

	while (bytes) {
		ssize_t got = recv(connection->fd, at, bytes, flags);

		if (!got)
			return OUTCOME_EOF;
		if (got < 0) {
			outcome = transfer_errno(connection, "recv");
			if (outcome != OUTCOME_OK)
				return outcome;
			continue;
		}
		connection->totals.recv_calls++;
		connection->totals.received_bytes += got;
		at += got;
		bytes -= got;
	}
	return OUTCOME_OK;
}

void transfer_cursor_init(struct transfer_cursor *cursor, const struct message *message)
{
	memcpy(cursor->field, message->field, sizeof(cursor->field));
	cursor->header = (struct msghdr){
		.msg_iov = cursor->field,
		.msg_iovlen = message->n_fields,
	};
	cursor->left_bytes = message->bytes;
}

void transfer_cursor_advance(struct transfer_cursor *cursor, size_t bytes)
{
	struct msghdr *header = &cursor->header;

	cursor->left_bytes -= bytes;
	while (header->msg_iovlen && bytes >= header->msg_iov->iov_len) {
		bytes -= header->msg_iov->iov_len;
		header->msg_iov++;
		header->msg_iovlen--;
	}
	if (bytes) {
		header->msg_iov->iov_base = (char *)header->msg_iov->iov_base + bytes;
		header->msg_iov->iov_len -= bytes;
	}
}

enum outcome transfer_sendmsg(struct connection *connection, const struct message *message)
{
	struct transfer_cursor cursor;
	enum outcome outcome;

	transfer_cursor_init(&cursor, message);
	while (cursor.left_bytes) {
		ssize_t sent = sendmsg(connection->fd, &cursor.header, MSG_NOSIGNAL);

		if (sent < 0) {
			outcome = transfer_errno(connection, "sendmsg");
			if (outcome != OUTCOME_OK)
				return outcome;
			continue;
		}
		transfer_sent(connection, sent);
		transfer_cursor_advance(&cursor, sent);
	}
	return OUTCOME_OK;
}

enum outcome transfer_recvmsg(struct connection *connection, const struct message *message)
{
	struct transfer_cursor cursor;
	enum outcome outcome;

	transfer_cursor_init(&cursor, message);
	while (cursor.left_bytes) {
		ssize_t got = recvmsg(connection->fd, &cursor.header, 0);

		if (!got)
			return OUTCOME_EOF;
		if (got < 0) {
			outcome = transfer_errno(connection, "recvmsg");
			if (outcome != OUTCOME_OK)
				return outcome;
			continue;
		}
		connection->totals.recv_calls++;
		connection->totals.received_bytes += got;
		transfer_cursor_advance(&cursor, got);
	}
	return OUTCOME_OK;
}
