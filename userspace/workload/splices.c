// SPDX-License-Identifier: GPL-2.0
/* Sends a message as pages of a file or of a pipe: sendfile(2), splice(2), vmsplice(2). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sys/sendfile.h>

#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/transfer.h"
#include "userspace/workload/ways.h"

enum outcome splices_sendfile(struct sender *sender, struct message *message)
{
	enum outcome outcome = OUTCOME_OK;
	off_t at = 0;

	while ((size_t)at < message->bytes && outcome == OUTCOME_OK) {
		ssize_t sent = sendfile(sender->connection->fd, message->file, &at, message->bytes - at);

		if (sent < 0)
			outcome = transfer_errno(sender->connection, "sendfile");
		else
			transfer_sent(sender->connection, sent);
	}
	return outcome;
}

/* As long as a message if the limit for users allows it (fs.pipe-max-size): else it is filled more than once. */
static bool pipe_is_open(struct sender *sender, size_t bytes)
{
	if (sender->pipe_open)
		return true;
	if (pipe2(sender->pipe, O_CLOEXEC)) {
		complain("cannot make a pipe: %s", strerror(errno));
		return false;
	}
	sender->pipe_open = true;
	fcntl(sender->pipe[1], F_SETPIPE_SZ, bytes);
	return true;
}

/* Moves what lies in the pipe. */
static enum outcome drain(struct sender *sender, size_t bytes, bool more)
{
	enum outcome outcome = OUTCOME_OK;

	while (bytes && outcome == OUTCOME_OK) {
		ssize_t sent = splice(sender->pipe[0], NULL, sender->connection->fd, NULL, bytes,
				      more ? SPLICE_F_MORE : 0);

		if (sent < 0) {
			outcome = transfer_errno(sender->connection, "splice");
			continue;
		}
		transfer_sent(sender->connection, sent);
		bytes -= sent;
	}
	return outcome;
}

enum outcome splices_splice(struct sender *sender, struct message *message)
{
	enum outcome outcome = OUTCOME_OK;
	off_t at = 0;

	if (!pipe_is_open(sender, message->bytes))
		return OUTCOME_FAILED;
	while ((size_t)at < message->bytes && outcome == OUTCOME_OK) {
		ssize_t moved = splice(message->file, &at, sender->pipe[1], NULL, message->bytes - at, 0);

		outcome = moved < 0 ? transfer_errno(sender->connection, "splice") :
				      drain(sender, moved, (size_t)at < message->bytes);
	}
	return outcome;
}

static enum outcome vmsplice_by(struct sender *sender, struct message *message, unsigned int flags)
{
	struct iovec left = message->field[0];
	enum outcome outcome = OUTCOME_OK;

	if (!pipe_is_open(sender, message->bytes))
		return OUTCOME_FAILED;
	while (left.iov_len && outcome == OUTCOME_OK) {
		ssize_t moved = vmsplice(sender->pipe[1], &left, 1, flags);

		if (moved < 0) {
			outcome = transfer_errno(sender->connection, "vmsplice");
			continue;
		}
		left.iov_base = (char *)left.iov_base + moved;
		left.iov_len -= moved;
		outcome = drain(sender, moved, left.iov_len);
	}
	return outcome;
}

enum outcome splices_vmsplice(struct sender *sender, struct message *message)
{
	return vmsplice_by(sender, message, 0);
}

enum outcome splices_gift(struct sender *sender, struct message *message)
{
	return vmsplice_by(sender, message, SPLICE_F_GIFT);
}

enum outcome splices_renew(struct sender *sender, struct message *message)
{
	return sender->manner.check_content && message_replace(message) ? OUTCOME_FAILED : OUTCOME_OK;
}
