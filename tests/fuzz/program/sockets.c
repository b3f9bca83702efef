// SPDX-License-Identifier: GPL-2.0
/* Sockets of any protocol: among those of a program, their notifications; descriptors that are doubled or passed, and
 * calls of no such socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/program/program.h"

enum { UNIX_BYTES_MAX = 4000, SLEEP_US_MAX = 3000, REPORTS_MAX = 200 };

bool has_zerocopy(int fd)
{
	int on = 0;
	socklen_t length = sizeof(on);

	return !getsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, &length) && on;
}

int set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

uint16_t port_of(const union address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

void read_ports(int i)
{
	struct sock *s = &all->socket[i];
	union address a;
	socklen_t length = sizeof(a);

	if (!getsockname(s->fd, &a.any, &length))
		s->local_port = port_of(&a);
	length = sizeof(a);
	if (!getpeername(s->fd, &a.any, &length))
		s->remote_port = port_of(&a);
}

void limit_waits(int fd, bool reads)
{
	struct timeval limit = { 0, 1000 + below(20000) };

	if (reads)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

int enter(int fd, int family)
{
	static const int ways[] = { 1, 2, 4, 7, 7, 7, 3, 5, 6 };
	int i = atomic_fetch_add(&all->sockets, 1);
	struct sock *s = &all->socket[i];
	socklen_t length = sizeof(s->cookie);

	if (i >= SOCKETS_MAX) {
		atomic_store(&all->sockets, SOCKETS_MAX);
		close(fd);
		return -1;
	}
	s->fd = fd;
	s->other = -1;
	s->family = family;
	s->ways = ways[below(sizeof(ways) / sizeof(*ways))];
	read_ports(i);
	getsockopt(fd, SOL_SOCKET, SO_COOKIE, &s->cookie, &length);
	limit_waits(fd, true);
	if (one_in(3))
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (s->ways & WAY_REFERENCE && !one_in(8))
		set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	open_here[i] = 1;
	atomic_store(&s->is_live, 1);
	return i;
}

static void read_notification(int i, const struct cmsghdr *control)
{
	const struct sock_extended_err *error = (const void *)CMSG_DATA(control);
	bool is_report = (control->cmsg_level == SOL_IP && control->cmsg_type == IP_RECVERR) ||
			 (control->cmsg_level == SOL_IPV6 && control->cmsg_type == IPV6_RECVERR);
	unsigned sends;

	if (!is_report || error->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
		return;
	sends = error->ee_data - error->ee_info + 1;
	add(i, COMPLETED, sends);
	if (error->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		add(i, COPIED, sends);
}

void call_error_queue(int i)
{
	char control[512], quoted[256];
	struct iovec part = { quoted, sizeof(quoted) };

	for (int k = 0; k < REPORTS_MAX; k++) {
		struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control), .msg_iov = &part,
					  .msg_iovlen = one_in(2) };

		if (recvmsg(all->socket[i].fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
			read_notification(i, c);
	}
}

/* In one step: another thread could take the number of a descriptor that was closed first. */
static void put_in_place(int fd, int number)
{
	if (fd == number)
		return;
	dup2(fd, number);
	close(fd);
}

void call_dup(int i)
{
	int copy = dup(all->socket[i].fd);

	if (copy < 0)
		return;
	if (one_in(2))
		close(copy);
	else
		put_in_place(copy, all->socket[i].fd);
}

static void receive_descriptor(int from, int number)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(from, &message, 0) != 1 || !message.msg_controllen)
		return;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	put_in_place(fd, number);
}

/* Through a UNIX socket. */
void call_pass(int i)
{
	int fd = all->socket[i].fd, ends[2];
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = { .header = { CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { data, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(ends[0], &message, 0) == 1)
		receive_descriptor(ends[1], fd);
	close(ends[0]);
	close(ends[1]);
}

/* What is neither TCP nor UDP must be in no sum. Another process may have read what this one wrote. */
void call_unix(int unused)
{
	ssize_t got = write(all->pair[0], data, below(UNIX_BYTES_MAX));

	if (got > 0)
		got = read(all->pair[1], room, got);
	say("unix: %zd", got);
}

void call_sleep(int unused)
{
	usleep(below(SLEEP_US_MAX));
}
