// SPDX-License-Identifier: GPL-2.0
/* Calls that receive: copies, peeks, splices, mapped pages, what is thrown away, urgent bytes, notifications. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/tcp/tcp.h"

enum { MESSAGES_MAX = 4, MESSAGE_BYTES_MAX = 70000, MAPS_MAX = 6 };
/* struct tcp_zerocopy_receive before it had room for copies (5.4). */
enum { MAP_WITHOUT_COPIES = 16 };

static int some_flags(void)
{
	return (one_in(3) ? MSG_DONTWAIT : 0) | (one_in(6) ? MSG_WAITALL : 0);
}

static void receive_messages(int i)
{
	struct mmsghdr messages[MESSAGES_MAX];
	struct iovec parts[MESSAGES_MAX];
	struct timespec limit = { 0, 1000000 };
	int count = 1 + below(MESSAGES_MAX), done;

	for (int k = 0; k < count; k++) {
		parts[k] = (struct iovec){ room + below(4096), some_bytes() % MESSAGE_BYTES_MAX };
		messages[k] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &parts[k], .msg_iovlen = 1 } };
	}
	done = recvmmsg(all->socket[i].fd, messages, count, MSG_DONTWAIT, one_in(2) ? &limit : NULL);
	say("recvmmsg %d: %d of %d", i, done, count);
	for (int k = 0; k < done; k++)
		received(i, RX_COPY, messages[k].msg_len);
}

void call_recv(int i)
{
	int fd = all->socket[i].fd;
	unsigned n = some_bytes();
	struct iovec parts[PARTS_MAX];
	char control[512];
	struct msghdr message = { .msg_iov = parts, .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t got = 0;

	switch (below(6)) {
	case 0:
	case 1:
		got = recv(fd, room + below(4096), n, some_flags());
		break;
	case 2:
		got = read(fd, room + below(4096), n);
		break;
	case 3:
		got = readv(fd, parts, cut(parts, room, n));
		break;
	case 4:
		message.msg_iovlen = cut(parts, room, n);
		got = recvmsg(fd, &message, some_flags());
		break;
	case 5:
		receive_messages(i);
		return;
	}
	say("recv %d: %u %zd", i, n, got);
	received(i, RX_COPY, got);
}

/* Into memory that ends in the middle. */
void call_recv_fault(int i)
{
	int fd = all->socket[i].fd;
	unsigned n = 1 + below(100000), there = one_in(3) ? 0 : below(n);
	struct iovec parts[] = { { room, below(20000) }, { hole + BUFFER_BYTES - there, n }, { room, 1000 } };
	ssize_t got = one_in(2) ? recv(fd, parts[1].iov_base, n, MSG_DONTWAIT) : readv(fd, parts, 3);

	say("recv_fault %d: %u of %u, %zd", i, there, n, got);
	received(i, RX_COPY, got);
}

void call_peek(int i)
{
	ssize_t got = recv(all->socket[i].fd, room, some_bytes(),
			   MSG_PEEK | MSG_DONTWAIT | (one_in(8) ? MSG_WAITALL : 0));

	say("peek %d: %zd", i, got);
	peeked(i, got);
}

void call_peek_fault(int i)
{
	unsigned n = 1 + below(30000);

	peeked(i, recv(all->socket[i].fd, hole + BUFFER_BYTES - below(n), n, MSG_PEEK | MSG_DONTWAIT));
}

void call_trunc(int i)
{
	ssize_t got = recv(all->socket[i].fd, one_in(2) ? NULL : room, some_bytes(), MSG_TRUNC | some_flags());

	say("trunc %d: %zd", i, got);
	received(i, RX_DISCARD, got);
}

/* Copies nothing and takes nothing. */
void call_peek_trunc(int i)
{
	ssize_t got = recv(all->socket[i].fd, one_in(2) ? NULL : room, some_bytes(),
			   MSG_TRUNC | MSG_PEEK | MSG_DONTWAIT);

	say("peek_trunc %d: %zd", i, got);
}

static void drain(int pipe, size_t n)
{
	ssize_t got;

	while (n && (got = read(pipe, room + BUFFER_BYTES / 2, n < BUFFER_BYTES / 2 ? n : BUFFER_BYTES / 2)) > 0)
		n -= got;
}

/* On to another socket, or back; returns what is left in the pipe. */
static ssize_t pass_on(int i, int pipe, ssize_t there)
{
	int to = one_in(2) ? i : (int)below(all->sockets);
	struct sock *s = &all->socket[to];
	ssize_t went;

	if (!s->is_live || !open_here[to] || !(s->ways & WAY_SPLICE) || atomic_exchange(&s->sends, 1))
		return there;
	went = sent(to, TX_SPLICE, splice(pipe, NULL, s->fd, NULL, there, SPLICE_F_NONBLOCK));
	say("pass on %d to %d: %zd", i, to, went);
	atomic_store(&s->sends, 0);
	return went > 0 ? there - went : there;
}

void call_splice_out(int i)
{
	int ends[2];

	if (!pipe_of_any_room(ends))
		return;
	for (int k = 1 + below(3); k; k--) {
		ssize_t got = splice(all->socket[i].fd, NULL, ends[1], NULL, 1 + some_bytes(), SPLICE_F_NONBLOCK);

		say("splice_out %d: %zd %s", i, got, got < 0 ? strerror(errno) : "");
		if (received(i, RX_SPLICE, got) <= 0)
			break;
		if (one_in(3))
			got = pass_on(i, ends[0], got);
		/* What stays holds pages of the socket. */
		drain(ends[0], one_in(3) ? below(got) : got);
	}
	close(ends[0]);
	close(ends[1]);
}

static bool map_once(int i, struct tcp_zerocopy_receive *asked, socklen_t length)
{
	if (getsockopt(all->socket[i].fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, asked, &length))
		return false;
	say("map %d: %u, copied %d, to copy %u", i, asked->length, asked->copybuf_len, asked->recv_skip_hint);
	received(i, RX_MAP, asked->length);
	if (asked->copybuf_address && asked->copybuf_len > 0)
		received(i, RX_COPY, asked->copybuf_len);
	return true;
}

void call_map(int i)
{
	size_t bytes = 4096 * (1 + below(64));
	char *area = mmap(NULL, bytes, PROT_READ, MAP_SHARED, all->socket[i].fd, 0);
	struct tcp_zerocopy_receive asked = { .address = (uintptr_t)area, .length = bytes };
	socklen_t length = one_in(2) ? MAP_WITHOUT_COPIES : sizeof(asked);

	if (area == MAP_FAILED)
		return;
	if (one_in(2)) {
		asked.copybuf_address = (uintptr_t)room;
		asked.copybuf_len = some_bytes() % MESSAGE_BYTES_MAX;
		length = sizeof(asked);
	}
	/* Pages of later packets begin where the rest of this one ends, which is to be copied. */
	for (int k = 0; k < MAPS_MAX && map_once(i, &asked, length); k++) {
		unsigned rest = asked.recv_skip_hint;

		if (!rest || rest >= BUFFER_BYTES || one_in(4) ||
		    received(i, RX_COPY, recv(all->socket[i].fd, room, rest, MSG_DONTWAIT)) <= 0)
			break;
		asked = (struct tcp_zerocopy_receive){ .address = (uintptr_t)area, .length = bytes };
		length = MAP_WITHOUT_COPIES;
	}
	munmap(area, bytes);
}

void call_recv_urgent(int i)
{
	int at_mark, how = one_in(4) ? MSG_PEEK : one_in(8) ? MSG_TRUNC : 0;
	ssize_t got;
	char byte;

	if (!all->may.urgent)
		return;
	ioctl(all->socket[i].fd, SIOCATMARK, &at_mark);
	got = recv(all->socket[i].fd, &byte, 1, MSG_OOB | MSG_DONTWAIT | how);
	say("recv_urgent %d: %zd", i, got);
	if (how == MSG_PEEK)
		peeked(i, got);
	else
		received(i, how ? RX_DISCARD : RX_COPY, got);
	if (got > 0)
		mark(i, MARK_URGENT);
}
