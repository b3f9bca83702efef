// SPDX-License-Identifier: GPL-2.0
/* Calls that send: copies, by reference, by splices, with urgent bytes, from memory that faults. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/tcp/tcp.h"

enum { MESSAGES_MAX = 4, MESSAGE_BYTES_MAX = 70000 };

static int some_flags(void)
{
	return MSG_NOSIGNAL | (one_in(4) ? MSG_MORE : 0) | (one_in(4) ? MSG_DONTWAIT : 0) |
	       (one_in(30) ? MSG_EOR : 0);
}

static ssize_t send_parts(int fd, unsigned bytes, int flags)
{
	struct iovec parts[PARTS_MAX];
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = cut(parts, data, bytes) };

	return sendmsg(fd, &message, flags);
}

static void send_messages(int i, int flags)
{
	struct mmsghdr messages[MESSAGES_MAX];
	struct iovec parts[MESSAGES_MAX];
	int count = 1 + below(MESSAGES_MAX), done;

	for (int k = 0; k < count; k++) {
		parts[k] = (struct iovec){ data + below(4096), 1 + some_bytes() % MESSAGE_BYTES_MAX };
		messages[k] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &parts[k], .msg_iovlen = 1 } };
	}
	done = sendmmsg(all->socket[i].fd, messages, count, flags);
	say("sendmmsg %d: %d of %d", i, done, count);
	for (int k = 0; k < done; k++)
		if (flags & MSG_ZEROCOPY)
			sent_by_reference(i, messages[k].msg_len);
		else
			sent(i, TX_COPY, messages[k].msg_len);
}

void call_send(int i)
{
	int fd = all->socket[i].fd;
	unsigned n = some_bytes();
	char *from = data + below(4096);
	struct iovec parts[PARTS_MAX];
	ssize_t got = 0;

	switch (below(7)) {
	case 0:
		got = send(fd, from, n, some_flags());
		break;
	case 1:
		got = write(fd, from, n);
		break;
	case 2:
		got = writev(fd, parts, cut(parts, data, n));
		break;
	case 3:
		got = send_parts(fd, n, some_flags());
		break;
	case 4:
		send_messages(i, some_flags());
		return;
	case 5:
		got = sendto(fd, from, n, some_flags(), NULL, 0);
		break;
	case 6:
		/* MSG_ZEROCOPY that the socket did not ask for. */
		got = has_zerocopy(fd) ? 0 : send(fd, from, n, some_flags() | MSG_ZEROCOPY);
		break;
	}
	say("send %d: %u %zd", i, n, got);
	sent(i, TX_COPY, got);
}

/* From memory that ends in the middle of what is to be sent. */
void call_send_fault(int i)
{
	struct sock *s = &all->socket[i];
	unsigned n = 1 + below(100000), there = one_in(3) ? 0 : below(n);
	bool refers = s->ways & WAY_REFERENCE && one_in(2) && has_zerocopy(s->fd);
	struct iovec parts[] = { { data, below(30000) }, { hole + BUFFER_BYTES - there, n }, { data, 77 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	int flags = MSG_NOSIGNAL | (refers ? MSG_ZEROCOPY : 0) | (one_in(2) ? MSG_DONTWAIT : 0);
	ssize_t got;

	if (!refers && !(s->ways & WAY_COPY))
		return;
	got = one_in(2) ? send(s->fd, parts[1].iov_base, n, flags) : sendmsg(s->fd, &message, flags);
	say("send_fault %d: by reference %d, %u of %u, %zd", i, refers, there, n, got);
	if (refers)
		sent_by_reference(i, got);
	else
		sent(i, TX_COPY, got);
}

/* Turns SO_ZEROCOPY on if it is off, and off now and then; is it on? */
static bool turn_zerocopy_on(int fd)
{
	if (!has_zerocopy(fd))
		return !set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (!one_in(30))
		return true;
	set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 0);
	return false;
}

void call_zerocopy(int i)
{
	int fd = all->socket[i].fd, flags = some_flags() | MSG_ZEROCOPY;
	unsigned n = 1 + some_bytes();
	ssize_t got;

	if (!turn_zerocopy_on(fd))
		return;
	switch (below(4)) {
	case 0:
		send_messages(i, flags);
		return;
	case 1:
		got = send_parts(fd, n, flags);
		break;
	default:
		got = send(fd, data + (one_in(2) ? 0 : below(4096)), n, flags);
		break;
	}
	say("zerocopy %d: %u %zd %s", i, n, got, got < 0 ? strerror(errno) : "");
	sent_by_reference(i, got);
}

void call_sendfile(int i)
{
	off_t offset = below(all->file_bytes);
	ssize_t got = sendfile(all->socket[i].fd, all->file, &offset, some_bytes());

	say("sendfile %d: %zd", i, got);
	sent(i, TX_SPLICE, got);
}

/* A pipe's page may be written, of the program's memory, or of a file. */
static ssize_t fill(int pipe)
{
	unsigned n = 1 + some_bytes() % 65536;
	struct iovec part = { data + below(2) * below(4096), n }, page = { data, n };
	loff_t offset = below(all->file_bytes - 1);

	switch (below(4)) {
	case 0:
		return write(pipe, data, n);
	case 1:
		return vmsplice(pipe, &part, 1, SPLICE_F_NONBLOCK);
	case 2:
		return vmsplice(pipe, &page, 1, SPLICE_F_GIFT | SPLICE_F_NONBLOCK);
	default:
		return splice(all->file, &offset, pipe, NULL, n, SPLICE_F_NONBLOCK);
	}
}

static ssize_t splice_in(int i, int pipe, size_t n)
{
	ssize_t got = splice(pipe, NULL, all->socket[i].fd, NULL, n,
			     SPLICE_F_NONBLOCK | (one_in(3) ? SPLICE_F_MORE : 0));

	say("splice %d: %zd %s", i, got, got < 0 ? strerror(errno) : "");
	return sent(i, TX_SPLICE, got);
}

/* tee() has the same pages in two pipes. */
static void splice_twice(int i, int from, ssize_t there)
{
	int other[2];
	ssize_t got;

	if (pipe2(other, O_NONBLOCK))
		return;
	got = tee(from, other[1], there, SPLICE_F_NONBLOCK);
	if (got > 0)
		splice_in(i, other[0], got);
	close(other[0]);
	close(other[1]);
}

bool pipe_of_any_room(int ends[2])
{
	if (pipe2(ends, O_NONBLOCK))
		return false;
	if (one_in(3))
		fcntl(ends[1], F_SETPIPE_SZ, 4096 << below(9));
	return true;
}

void call_splice(int i)
{
	ssize_t there = 0, got;
	int ends[2];

	if (!pipe_of_any_room(ends))
		return;
	for (int k = 1 + below(3); k; k--) {
		got = fill(ends[1]);
		there += got > 0 ? got : 0;
	}
	if (there && one_in(6))
		splice_twice(i, ends[0], there);
	for (int k = 0; there > 0 && k < 3; k++) {
		got = splice_in(i, ends[0], one_in(2) ? there : 1 + below(there));
		if (got <= 0)
			break;
		there -= got;
	}
	close(ends[0]);
	close(ends[1]);
}

/* A connect that waited too long has left its socket without the ports by which its other end is found. */
static void mark_urgent_at_other(int i)
{
	struct sock *s = &all->socket[i];

	if (s->other < 0)
		find_other(i);
	if (s->other >= 0) {
		mark(s->other, MARK_URGENT);
		return;
	}
	for (int k = all->sockets - 1; k >= 0; k--)
		if (all->socket[k].other < 0)
			mark(k, MARK_URGENT);
}

void call_urgent(int i)
{
	struct sock *s = &all->socket[i];

	if (!all->may.urgent || !(s->ways & WAY_COPY))
		return;
	mark(i, MARK_URGENT);
	mark_urgent_at_other(i);
	sent(i, TX_COPY, send(s->fd, data, 1 + below(3000), MSG_OOB | MSG_NOSIGNAL | MSG_DONTWAIT));
}
