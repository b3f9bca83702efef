// SPDX-License-Identifier: GPL-2.0
/* Sends and receives whole JSON objects over a socket, within limits of size and time. */
#include "userspace/peer/frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int await(int fd, short events, int64_t deadline_ms)
{
	struct pollfd wait = { .fd = fd, .events = events };
	int64_t left;
	int ready;

	do {
		left = deadline_ms - now_ms();
		ready = left > 0 ? poll(&wait, 1, left) : 0;
	} while (ready < 0 && errno == EINTR);
	return ready < 0 ? -errno : ready ? 0 : -ETIMEDOUT;
}

/* "Gone" has many names. */
static int lost(int error)
{
	return error == EPIPE || error == ECONNABORTED || error == EHOSTUNREACH ||
	       error == ENETUNREACH || error == ETIMEDOUT ? -ECONNRESET : -error;
}

static int send_all(int fd, const char *from, size_t bytes, int64_t deadline_ms)
{
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

static int receive_all(int fd, char *to, size_t bytes, int64_t deadline_ms)
{
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

static int is_printable(const json_t *value)
{
	const char *text = json_string_value(value);

	for (size_t i = 0; text && i < json_string_length(value); i++)
		if (text[i] < ' ' || text[i] > '~')
			return 0;
	return 1;
}

/* Keys are no concern: only known ones are ever looked up, and none is printed. */
static int all_printable(json_t *value)
{
	const char *key;
	json_t *each;
	size_t i;

	json_object_foreach(value, key, each)
		if (!all_printable(each))
			return 0;
	json_array_foreach(value, i, each)
		if (!all_printable(each))
			return 0;
	return is_printable(value);
}

int frame_send(int fd, json_t *o, int timeout_ms)
{
	int64_t deadline_ms = now_ms() + timeout_ms;
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	size_t bytes = text ? strlen(text) : 0;
	uint32_t length = htonl(bytes);
	int err = text ? send_all(fd, (char *)&length, sizeof(length), deadline_ms) : -ENOMEM;

	if (!err)
		err = send_all(fd, text, bytes, deadline_ms);
	free(text);
	json_decref(o);
	return err;
}

json_t *frame_receive(int fd, size_t limit, int timeout_ms, int *err)
{
	int64_t deadline_ms = now_ms() + timeout_ms;
	json_t *o = NULL;
	uint32_t length;
	char *text;

	*err = receive_all(fd, (char *)&length, sizeof(length), deadline_ms);
	if (*err)
		return NULL;
	length = ntohl(length);
	*err = -EBADMSG;
	if (length < 2 || length > limit)
		return NULL;
	text = malloc(length);
	*err = text ? receive_all(fd, text, length, deadline_ms) : -ENOMEM;
	if (!*err) {
		o = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
		*err = json_is_object(o) && all_printable(o) ? 0 : -EBADMSG;
	}
	free(text);
	if (!*err)
		return o;
	json_decref(o);
	return NULL;
}

int frame_is(const json_t *o, const char *type)
{
	const char *said = json_string_value(json_object_get(o, "type"));

	return said && !strcmp(said, type);
}
