// SPDX-License-Identifier: GPL-2.0
/* Moves messages as pages: out by sendfile(2), splice(2), vmsplice(2); in by splice(2), TCP_ZEROCOPY_RECEIVE. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "userspace/workload/receiver.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"
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

/* Receiving. */

/* Where pages go that nobody checks. */
static int sink = -1;

int splices_prepare(void)
{
	sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return sink < 0 ? -errno : 0;
}

static int open_pipe(struct passage *passage, size_t bytes)
{
	if (pipe2(passage->pipe, O_CLOEXEC)) {
		complain("cannot make a pipe: %s", strerror(errno));
		return -1;
	}
	passage->piped = true;
	/* As long as a message if the limit for users allows it: else it is filled more than once. */
	fcntl(passage->pipe[1], F_SETPIPE_SZ, bytes);
	return 0;
}

static int open_area(struct passage *passage, const struct connection *connection, size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *area;

	bytes = (bytes + page - 1) / page * page;
	area = mmap(NULL, bytes, PROT_READ, MAP_SHARED, connection->fd, 0);
	if (area == MAP_FAILED) {
		complain("cannot map a socket: %s", strerror(errno));
		return -1;
	}
	passage->area = area;
	passage->area_bytes = bytes;
	return 0;
}

/* The area holds the socket, too: without this no close ends it. */
void splices_close(struct receiver *receiver)
{
	struct passage *passage = &receiver->passage;

	if (passage->piped) {
		close(passage->pipe[0]);
		close(passage->pipe[1]);
	}
	if (passage->area)
		munmap(passage->area, passage->area_bytes);
	*passage = (struct passage){ 0 };
}

static void note_received(struct connection *connection, size_t bytes)
{
	connection->totals.recv_calls++;
	connection->totals.received_bytes += bytes;
}

/* Empties the pipe: into memory where the bytes are to be checked, else nowhere, and as pages. */
static enum outcome pass_on(const struct passage *passage, char *to, size_t bytes)
{
	while (bytes) {
		ssize_t moved = to ? read(passage->pipe[0], to, bytes) :
				     splice(passage->pipe[0], NULL, sink, NULL, bytes, 0);

		if (moved < 0 && errno == EINTR)
			continue;
		if (moved <= 0) {
			complain("cannot empty a pipe: %s", moved ? strerror(errno) : "it was empty");
			return OUTCOME_FAILED;
		}
		to = to ? to + moved : NULL;
		bytes -= moved;
	}
	return OUTCOME_OK;
}

static enum outcome splice_out(struct connection *connection, const struct passage *passage, void *to,
			     size_t bytes)
{
	enum outcome outcome = OUTCOME_OK;
	char *at = to;

	while (bytes && outcome == OUTCOME_OK) {
		ssize_t got = splice(connection->fd, NULL, passage->pipe[1], NULL, bytes, 0);

		if (!got)
			return OUTCOME_EOF;
		if (got < 0) {
			outcome = transfer_errno(connection, "splice");
			continue;
		}
		note_received(connection, got);
		outcome = pass_on(passage, at, got);
		at = at ? at + got : NULL;
		bytes -= got;
	}
	return outcome;
}

/* Asks for up to @most bytes, whole pages, in place of those that were mapped before. */
static enum outcome map_some(struct connection *connection, const struct passage *passage, size_t most,
			     struct tcp_zerocopy_receive *found)
{
	socklen_t length = sizeof(*found);

	*found = (struct tcp_zerocopy_receive){ .address = (uintptr_t)passage->area, .length = most };
	if (getsockopt(connection->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, found, &length)) {
		/* So it says that there will be no more. */
		if (errno == EIO)
			return OUTCOME_EOF;
		found->length = found->recv_skip_hint = 0;
		return transfer_errno(connection, "TCP_ZEROCOPY_RECEIVE");
	}
	if (found->err) {
		errno = -found->err;
		return transfer_errno(connection, "TCP_ZEROCOPY_RECEIVE");
	}
	connection->totals.map_calls += found->length || found->recv_skip_hint;
	if (found->length)
		note_received(connection, found->length);
	return OUTCOME_OK;
}

/* Unlike recv it does not wait, nor does it tell that the peer is gone for good: recv then does. */
static enum outcome await_more(struct connection *connection, bool *gone)
{
	struct pollfd socket = { .fd = connection->fd, .events = POLLIN };
	int ready = poll(&socket, 1, STOP_TICK_MS);

	*gone = ready > 0 && socket.revents & (POLLHUP | POLLERR | POLLNVAL);
	if (!ready)
		errno = EAGAIN;
	return ready > 0 ? OUTCOME_OK : transfer_errno(connection, "poll");
}

static enum outcome map_in(struct connection *connection, const struct passage *passage, void *to, size_t bytes,
			  bool look)
{
	size_t page = sysconf(_SC_PAGESIZE), taken = 0;
	enum outcome outcome = OUTCOME_OK;

	while (taken < bytes && outcome == OUTCOME_OK) {
		struct tcp_zerocopy_receive found = { 0 };
		size_t left = bytes - taken, most = left - left % page, copied = most ? 0 : left;
		bool gone = false;

		if (most)
			outcome = map_some(connection, passage, most, &found);
		if (outcome != OUTCOME_OK)
			break;
		if (look)
			memcpy((char *)to + taken, passage->area, found.length);
		taken += found.length;
		left -= found.length;
		if (most)
			copied = found.recv_skip_hint < left ? found.recv_skip_hint : left;
		if (!found.length && !copied)
			outcome = await_more(connection, &gone);
		copied = gone ? left : copied;
		if (copied)
			outcome = transfer_recv(connection, (char *)to + taken, copied, 0);
		taken += copied;
	}
	return outcome;
}

/* Nobody looks at bytes that are not checked: they go on as pages. */
enum outcome splices_receive(struct receiver *receiver)
{
	const struct message *message = &receiver->message;

	if (!receiver->passage.piped && open_pipe(&receiver->passage, message->bytes))
		return OUTCOME_FAILED;
	return splice_out(receiver->connection, &receiver->passage,
			  receiver->manner.check_content ? message->field[0].iov_base : NULL, message->bytes);
}

enum outcome splices_map(struct receiver *receiver)
{
	const struct message *message = &receiver->message;

	if (!receiver->passage.area && open_area(&receiver->passage, receiver->connection, message->bytes))
		return OUTCOME_FAILED;
	return map_in(receiver->connection, &receiver->passage, message->field[0].iov_base, message->bytes,
		      receiver->manner.check_content);
}
