// SPDX-License-Identifier: GPL-2.0
/* Receives of datagrams: taken and peeked at, with and without room, and told of their length. */
#include <string.h>
#include <sys/socket.h>

#include "tests/fuzz/udp/udp.h"

static unsigned some_room(void)
{
	return one_in(2) ? 1 << 16 : some_datagram();
}

void call_recv(int i)
{
	unsigned n = some_room();
	struct iovec parts[PARTS_MAX];
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = cut(parts, room, n) };
	int fd = all->socket[i].fd, flags = one_in(8) ? 0 : MSG_DONTWAIT;
	ssize_t got = one_in(3) ? recvmsg(fd, &message, flags) : recv(fd, room + below(4096), n, flags);

	say("recv %d: %u %zd", i, n, got);
	received(i, RX_COPY, got);
}

void call_recv_messages(int i)
{
	struct mmsghdr messages[MESSAGES_MAX];
	struct iovec parts[MESSAGES_MAX];
	int count = 1 + below(MESSAGES_MAX), done;

	for (int k = 0; k < count; k++) {
		parts[k] = (struct iovec){ room + below(4096), some_room() };
		messages[k] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &parts[k], .msg_iovlen = 1 } };
	}
	done = recvmmsg(all->socket[i].fd, messages, count, MSG_DONTWAIT, NULL);
	say("recv_messages %d: %d of %d", i, done, count);
	for (int k = 0; k < done; k++)
		received(i, RX_COPY, messages[k].msg_len);
}

void call_peek(int i)
{
	ssize_t got = recv(all->socket[i].fd, room, some_room(), MSG_PEEK | MSG_DONTWAIT);

	say("peek %d: %zd", i, got);
	peeked(i, got);
}

/* These return how long the datagram is. */
static ssize_t length_told(int i, unsigned n, int flags)
{
	ssize_t got = recv(all->socket[i].fd, room, n, MSG_TRUNC | MSG_DONTWAIT | flags);

	say("trunc %d: %u %zd, flags %x", i, n, got, flags);
	return got > (ssize_t)n ? (ssize_t)n : got;
}

void call_peek_trunc(int i)
{
	peeked(i, length_told(i, some_room(), MSG_PEEK));
}

void call_trunc(int i)
{
	received(i, RX_COPY, length_told(i, some_room(), 0));
}
