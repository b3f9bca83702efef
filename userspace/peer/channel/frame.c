// SPDX-License-Identifier: GPL-2.0
/* Sends and receives authenticated frames over a socket, within limits of size and time. */
#include "userspace/peer/channel/frame.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "userspace/common/clock.h"

enum { SLICE_MS = 100 };

static int64_t (*limit_ms)(void);

void frame_limit(int64_t (*left_ms)(void))
{
	limit_ms = left_ms;
}

static int await(int fd, short events, int64_t deadline_ms)
{
	struct pollfd wait = { .fd = fd, .events = events };
	int64_t left, most;
	int ready;

	do {
		left = deadline_ms - monotonic_ms();
		most = limit_ms ? limit_ms() : left;
		if (most < left)
			left = most;
		/* A signal that comes just before a wait changes the limit, but does not end the
		 * wait. */
		ready = left > 0 ? poll(&wait, 1, limit_ms && left > SLICE_MS ? SLICE_MS : left) : 0;
	} while ((ready < 0 && errno == EINTR) || (!ready && left > 0));
	return ready < 0 ? -errno : ready ? 0 : -ETIMEDOUT;
}

/* The kernel reports a lost connection by several errnos. */
static int lost(int error)
{
	return error == EPIPE || error == ECONNABORTED || error == EHOSTUNREACH ||
	       error == ENETUNREACH || error == ETIMEDOUT ? -ECONNRESET : -error;
}

static int send_all(int fd, const void *bytes_from, size_t bytes, int64_t deadline_ms)
{
	const char *from = bytes_from;

	while (bytes) {
		int err = await(fd, POLLOUT, deadline_ms);
		ssize_t sent;

		if (err)
			return err;
		sent = send(fd, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return lost(errno);
		if (sent > 0) {
			from += sent;
			bytes -= sent;
		}
	}
	return 0;
}

static int receive_all(int fd, void *bytes_to, size_t bytes, int64_t deadline_ms)
{
	char *to = bytes_to;

	while (bytes) {
		int err = await(fd, POLLIN, deadline_ms);
		ssize_t got;

		if (err)
			return err;
		got = recv(fd, to, bytes, MSG_DONTWAIT);
		if (!got)
			return -ECONNRESET;
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return lost(errno);
		if (got > 0) {
			to += got;
			bytes -= got;
		}
	}
	return 0;
}

int bytes_send(int fd, const void *from, size_t bytes, int timeout_ms)
{
	return send_all(fd, from, bytes, monotonic_ms() + timeout_ms);
}

int bytes_receive(int fd, void *to, size_t bytes, int timeout_ms)
{
	return receive_all(fd, to, bytes, monotonic_ms() + timeout_ms);
}

bool frame_header_read(const uint8_t header[FRAME_HEADER_BYTES], size_t limit, enum word *word,
		       size_t *bytes)
{
	uint32_t length;

	memcpy(&length, header, sizeof(length));
	*bytes = be32toh(length);
	*word = header[4];
	return *bytes <= limit && header[4] >= WORD_HELLO && header[4] < WORD_COUNT && !header[5] &&
	       !header[6] && !header[7];
}

int frame_send(int fd, struct session *s, enum word word, const char *text, int timeout_ms)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	size_t bytes = text ? strlen(text) : 0;
	uint8_t header[FRAME_HEADER_BYTES] = {}, mark[MARK_BYTES];
	uint32_t length = htobe32(bytes);
	int err;

	memcpy(header, &length, sizeof(length));
	header[4] = word;
	session_mark_out(s, header, sizeof(header), text, bytes, mark);
	err = send_all(fd, header, sizeof(header), deadline_ms);
	if (!err && bytes)
		err = send_all(fd, text, bytes, deadline_ms);
	return err ? err : send_all(fd, mark, sizeof(mark), deadline_ms);
}

int frame_receive(int fd, struct session *s, enum word *word, size_t limit, char **text,
		  size_t *bytes, int timeout_ms)
{
	int64_t deadline_ms = monotonic_ms() + timeout_ms;
	uint8_t header[FRAME_HEADER_BYTES], mark[MARK_BYTES];
	size_t length;
	char *room;
	int err = receive_all(fd, header, sizeof(header), deadline_ms);

	if (err)
		return err;
	if (!frame_header_read(header, text ? limit : 0, word, &length))
		return -EBADMSG;
	room = malloc(length + 1);
	if (!room)
		return -ENOMEM;
	room[length] = '\0';
	err = receive_all(fd, room, length, deadline_ms);
	if (!err)
		err = receive_all(fd, mark, sizeof(mark), deadline_ms);
	if (!err && !session_mark_fits(s, header, sizeof(header), room, length, mark))
		err = -EKEYREJECTED;
	if (err || !text) {
		free(room);
		return err;
	}
	*text = room;
	*bytes = length;
	return 0;
}

const char *frame_why(int err)
{
	switch (err) {
	case -EBADMSG:
		return "it sent what trace_run never sends";
	case -EKEYREJECTED:
		return "its message was changed on the way";
	case -ETIMEDOUT:
		return "it sent nothing in time";
	case -ECONNRESET:
		return "it left again";
	default:
		return strerror(-err);
	}
}
