// SPDX-License-Identifier: GPL-2.0
/* The lives of sockets: listeners, connections, Fast Open, the end, the next connection of the same socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/tcp/tcp.h"

enum { PATIENCE_MS = 200, FAST_OPEN_LISTENER = 2, FAST_OPEN_QUEUE = 16, BACKLOG = 64, FIRST_CONNECTIONS_MAX = 4 };

static void listen_one(int family, bool fast_open)
{
	union address a = { .any.sa_family = family };
	socklen_t length = sizeof(a);
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd < 0)
		return;
	if (fast_open)
		set_option(fd, IPPROTO_TCP, TCP_FASTOPEN, FAST_OPEN_QUEUE);
	/* Sockets that it accepts inherit it. */
	if (one_in(4))
		set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (bind(fd, &a.any, family == AF_INET6 ? sizeof(a.v6) : sizeof(a.v4)) || listen(fd, BACKLOG) ||
	    getsockname(fd, &a.any, &length)) {
		close(fd);
		return;
	}
	all->listeners[all->listener_count++] = (struct listener){ fd, family, port_of(&a) };
}

static void listen_all(void)
{
	listen_one(AF_INET, false);
	listen_one(AF_INET6, false);
	listen_one(AF_INET, all->may.fast_open);
}

/* A listener's address for a socket of that family, at times an IPv4 address in IPv6's. */
static socklen_t address_of(int listener, int family, union address *a)
{
	bool maps = all->listeners[listener].family == AF_INET || one_in(3);

	memset(a, 0, sizeof(*a));
	a->any.sa_family = family;
	if (family == AF_INET) {
		a->v4.sin_port = htons(all->listeners[listener].port);
		a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(a->v4);
	}
	a->v6.sin6_port = htons(all->listeners[listener].port);
	inet_pton(AF_INET6, maps ? "::ffff:127.0.0.1" : "::1", &a->v6.sin6_addr);
	return sizeof(a->v6);
}

void find_other(int i)
{
	struct sock *one = &all->socket[i];

	for (int k = all->sockets - 1; k >= 0; k--) {
		struct sock *other = &all->socket[k];

		if (k != i && other->local_port == one->remote_port && other->remote_port == one->local_port) {
			one->other = k;
			other->other = i;
			/* It may have sent before. */
			atomic_fetch_or(&one->marks, other->marks & (MARK_FAST_OPEN | MARK_URGENT));
			break;
		}
	}
}

/* Accepts what waits at a listener; with `expected` that is the other end of that socket. */
static int accept_at(int listener, int expected)
{
	struct pollfd waits = { all->listeners[listener].fd, POLLIN, 0 };
	int fd, i;

	if (poll(&waits, 1, PATIENCE_MS) <= 0)
		return -1;
	fd = accept(waits.fd, NULL, NULL);
	if (fd < 0)
		return -1;
	i = enter(fd, all->listeners[listener].family);
	if (i >= 0)
		find_other(i);
	say("connect %d %d", expected, i);
	return i;
}

static void shape(int fd)
{
	if (one_in(6))
		set_option(fd, SOL_SOCKET, SO_RCVBUF, 2048 << below(6));
	if (one_in(6))
		set_option(fd, SOL_SOCKET, SO_SNDBUF, 4096 << below(6));
	if (one_in(8))
		set_option(fd, IPPROTO_TCP, TCP_MAXSEG, 88 + below(1400));
	if (one_in(6))
		set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static void block_for(int fd, int ms)
{
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

/* Connects by a send that may put its bytes into the SYN. */
static int connect_fast(int fd, int family, const union address *to, socklen_t length)
{
	unsigned n = 1 + some_bytes() % 70000;
	bool refers = one_in(3) && !set_option(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	int flags = MSG_NOSIGNAL | (refers ? MSG_ZEROCOPY : 0), i = enter(fd, family);
	struct pollfd connects = { fd, POLLOUT, 0 };
	ssize_t got;

	if (i < 0)
		return -1;
	mark(i, MARK_FAST_OPEN);
	/* Bytes of the SYN are copied, those that do not fit into it may be referenced. */
	mark(i, MARK_SENT_IN_SEVERAL_WAYS);
	refers = refers || has_zerocopy(fd) ? refers : false;
	block_for(fd, PATIENCE_MS);
	if (one_in(2)) {
		got = sendto(fd, data, n, flags | MSG_FASTOPEN | (one_in(4) ? MSG_DONTWAIT : 0), &to->any, length);
		if (got < 0 && errno == EINPROGRESS)
			poll(&connects, 1, PATIENCE_MS);
	} else {
		set_option(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
		connect(fd, &to->any, length);
		got = send(fd, data, n, flags);
	}
	say("fast open %d: %u, by reference %d, %zd", i, n, refers, got);
	if (refers)
		sent_by_reference(i, got);
	else
		sent(i, TX_COPY, got);
	read_ports(i);
	return i;
}

void call_connect(int unused)
{
	int listener = below(all->listener_count), i;
	int others = all->listeners[listener].family == AF_INET6 ? one_in(4) : one_in(6);
	int family = (all->listeners[listener].family == AF_INET6) != others ? AF_INET6 : AF_INET;
	bool fast = all->may.fast_open && listener == FAST_OPEN_LISTENER && !one_in(3);
	union address to;
	socklen_t length = address_of(listener, family, &to);
	int fd;

	if (all->sockets > SOCKETS_MAX - 4 || (fd = socket(family, SOCK_STREAM, 0)) < 0)
		return;
	shape(fd);
	if (fast) {
		i = connect_fast(fd, family, &to, length);
	} else if (connect(fd, &to.any, length)) {
		close(fd);
		return;
	} else {
		i = enter(fd, family);
	}
	if (i < 0)
		return;
	accept_at(listener, i);
	/* An IPv6 socket becomes one of IPv4. */
	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&to.v6.sin6_addr) && one_in(12))
		set_option(fd, IPPROTO_IPV6, IPV6_ADDRFORM, AF_INET);
}

void begin_sockets(void)
{
	listen_all();
	for (int k = 1 + below(FIRST_CONNECTIONS_MAX); k; k--)
		call_connect(-1);
}

/* A socket that is connected to itself. */
void call_self(int unused)
{
	union address a = { .v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(a.v4);
	int fd = socket(AF_INET, SOCK_STREAM, 0), i;

	if (fd < 0)
		return;
	if (bind(fd, &a.any, length) || getsockname(fd, &a.any, &length) || connect(fd, &a.any, length)) {
		close(fd);
		return;
	}
	i = enter(fd, AF_INET);
	if (i >= 0)
		all->socket[i].other = i;
}

void mark_retransmitted(int i)
{
	struct tcp_info info;
	socklen_t length = sizeof(info);

	if (!getsockopt(all->socket[i].fd, IPPROTO_TCP, TCP_INFO, &info, &length) && info.tcpi_total_retrans)
		mark(i, MARK_RETRANSMITTED);
}

void call_close(int i)
{
	struct sock *s = &all->socket[i];
	struct linger linger = { 1, below(2) };

	if (one_in(5))
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	mark_retransmitted(i);
	call_error_queue(i);
	say("close %d", i);
	open_here[i] = 0;
	close(s->fd);
}

void call_shutdown(int i)
{
	int how = below(3);

	say("shutdown %d %d", i, how);
	shutdown(all->socket[i].fd, how);
}

void call_connect_anew(int i)
{
	struct sock *s = &all->socket[i];
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int listener = below(all->listener_count), flags = fcntl(s->fd, F_GETFL), failed;
	union address to;
	socklen_t length = address_of(listener, s->family, &to);

	if (s->other == i)
		return;
	mark_retransmitted(i);
	call_error_queue(i);
	if (connect(s->fd, &none, sizeof(none)))
		return;
	mark(i, MARK_CONNECTED_ANEW);
	if (s->other >= 0)
		all->socket[s->other].other = -1;
	s->other = -1;
	say("disconnect %d", i);
	if (one_in(4))
		return;
	block_for(s->fd, PATIENCE_MS);
	failed = connect(s->fd, &to.any, length);
	fcntl(s->fd, F_SETFL, flags);
	limit_waits(s->fd, false);
	read_ports(i);
	if (!failed)
		accept_at(listener, i);
}
