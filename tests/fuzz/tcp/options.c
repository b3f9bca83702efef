// SPDX-License-Identifier: GPL-2.0
/* Calls that move no byte of a connection: options, descriptors that are doubled or passed, other sockets, sleep. */
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/tcp/program.h"

enum { UNIX_BYTES_MAX = 4000, SLEEP_US_MAX = 3000 };

/* A row: value = one of `values`, or `least << below(doubled)`. */
static const struct {
	int level, name;
	unsigned values, least, doubled;
} options[] = {
	{ SOL_SOCKET, SO_SNDBUF, 0, 2304, 10 },
	{ SOL_SOCKET, SO_RCVBUF, 0, 2304, 10 },
	{ IPPROTO_TCP, TCP_NODELAY, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_CORK, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_CORK, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 200000, 0, 0 },
	{ SOL_SOCKET, SO_RCVLOWAT, 100000, 0, 0 },
	{ IPPROTO_TCP, TCP_QUICKACK, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_INQ, 2, 0, 0 },
	{ SOL_SOCKET, SO_TIMESTAMP, 2, 0, 0 },
	{ SOL_SOCKET, SO_OOBINLINE, 2, 0, 0 },
	{ SOL_SOCKET, SO_KEEPALIVE, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_WINDOW_CLAMP, 0, 1000, 8 },
	{ SOL_SOCKET, SO_PRIORITY, 6, 0, 0 },
	{ SOL_SOCKET, SO_BUSY_POLL, 50, 0, 0 },
	{ IPPROTO_IP, IP_TOS, 64, 0, 0 },
};
enum { OPTIONS = sizeof(options) / sizeof(*options) };

static void set_time_stamps(int fd)
{
	int flags = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID;

	flags |= (one_in(2) ? SOF_TIMESTAMPING_OPT_TSONLY : 0) | (one_in(2) ? SOF_TIMESTAMPING_TX_ACK : 0);
	set_option(fd, SOL_SOCKET, SO_TIMESTAMPING, one_in(2) ? 0 : flags);
}

void call_option(int i)
{
	int fd = all->socket[i].fd;
	unsigned which = below(OPTIONS + 4);
	uint64_t rate = one_in(2) ? UINT64_MAX : 1000000ULL << below(8);

	switch (which) {
	case OPTIONS:
		set_time_stamps(fd);
		return;
	case OPTIONS + 1:
		setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
		return;
	case OPTIONS + 2:
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, one_in(2) ? "reno" : "cubic", 5);
		return;
	case OPTIONS + 3:
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) ^ O_NONBLOCK);
		return;
	}
	if (options[which].name == SO_OOBINLINE && !all->may.urgent)
		return;
	set_option(fd, options[which].level, options[which].name, options[which].values ?
		   below(options[which].values) : options[which].least << below(options[which].doubled));
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

/* What is no TCP must be in no sum. Another process may have read what this one wrote. */
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
