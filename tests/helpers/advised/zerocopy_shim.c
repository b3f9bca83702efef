// SPDX-License-Identifier: GPL-2.0
/* Preloaded: TCP sends of ZEROCOPY_FROM bytes or more go by MSG_ZEROCOPY, and notifications are read as a program that was
 * changed would read them. It is about time alone: memory may be used again before its notification. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS_MOST 4096

enum { UNKNOWN, BY_REFERENCE, OTHER };
static unsigned char kind[FDS_MOST];
static int outstanding[FDS_MOST], highest;
static size_t from_bytes;

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("ZEROCOPY_FROM");

	from_bytes = text ? strtoul(text, NULL, 10) : 4096;
}

static int by_reference(int fd)
{
	int one = 1, type = 0;
	socklen_t size = sizeof(type);

	if (fd < 0 || fd >= FDS_MOST)
		return 0;
	if (kind[fd] == UNKNOWN) {
		kind[fd] = !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_STREAM &&
			   !setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) ? BY_REFERENCE : OTHER;
		if (fd > highest)
			highest = fd;
	}
	return kind[fd] == BY_REFERENCE;
}

static void read_notifications(int fd)
{
	static ssize_t (*real)(int, struct msghdr *, int);
	char control[128];
	int saved = errno;

	if (!real)
		real = REAL(recvmsg);
	while (outstanding[fd]) {
		struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control) };

		if (real(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
		/* A notification covers one send or more; how many matters to nobody here. */
	}
	errno = saved;
}

static ssize_t send_pieces(int fd, const struct iovec *pieces, size_t count, int flags)
{
	static ssize_t (*real)(int, const struct msghdr *, int);
	struct msghdr message = { .msg_iov = (struct iovec *)pieces, .msg_iovlen = count };
	ssize_t sent;

	if (!real)
		real = REAL(sendmsg);
	read_notifications(fd);
	sent = real(fd, &message, flags | MSG_ZEROCOPY);
	if (sent < 0 && errno == ENOBUFS)
		return real(fd, &message, flags);
	if (sent > 0)
		outstanding[fd] = 1;
	return sent;
}

static size_t length_of(const struct iovec *pieces, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += pieces[i].iov_len;
	return sum;
}

ssize_t send(int fd, const void *from, size_t size, int flags)
{
	struct iovec piece = { (void *)from, size };

	return size >= from_bytes && by_reference(fd) ? send_pieces(fd, &piece, 1, flags) : REAL(send)(fd, from, size, flags);
}

ssize_t write(int fd, const void *from, size_t size)
{
	static ssize_t (*real)(int, const void *, size_t);
	struct iovec piece = { (void *)from, size };

	if (!real)
		real = REAL(write);
	return size >= from_bytes && by_reference(fd) ? send_pieces(fd, &piece, 1, MSG_NOSIGNAL) : real(fd, from, size);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
	static ssize_t (*real)(int, const struct iovec *, int);

	if (!real)
		real = REAL(writev);
	return length_of(pieces, count) >= from_bytes && by_reference(fd) ? send_pieces(fd, pieces, count, MSG_NOSIGNAL) :
									    real(fd, pieces, count);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	static ssize_t (*real)(int, const struct msghdr *, int);

	if (!real)
		real = REAL(sendmsg);
	return !message->msg_name && length_of(message->msg_iov, message->msg_iovlen) >= from_bytes && by_reference(fd) ?
		       send_pieces(fd, message->msg_iov, message->msg_iovlen, flags) : real(fd, message, flags);
}

/* A notification makes a socket ready with EPOLLERR until it is read. */
static int drained(int ready)
{
	for (int fd = 0; ready > 0 && fd <= highest; fd++)
		if (kind[fd] == BY_REFERENCE && outstanding[fd])
			read_notifications(fd);
	return ready;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
	static int (*real)(int, struct epoll_event *, int, int);

	if (!real)
		real = REAL(epoll_wait);
	return drained(real(fd, events, most, timeout_ms));
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms, const sigset_t *mask)
{
	static int (*real)(int, struct epoll_event *, int, int, const sigset_t *);

	if (!real)
		real = REAL(epoll_pwait);
	return drained(real(fd, events, most, timeout_ms, mask));
}

int close(int fd)
{
	static int (*real)(int);

	if (!real)
		real = REAL(close);
	if (fd >= 0 && fd < FDS_MOST)
		kind[fd] = outstanding[fd] = 0;
	return real(fd);
}
