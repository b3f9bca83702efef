// SPDX-License-Identifier: GPL-2.0
/* The lives of UDP sockets, which come in pairs that are connected to each other. */
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/udp/udp.h"

enum { QUEUE_BYTES = 4 << 20 };

unsigned some_datagram(void)
{
	static const unsigned edges[] = { 0, 1, 2, 100, 1472, 1473, 4096, 9000, 16384, 32768, 60000, 65487, 65488,
		DATAGRAM_BYTES_MAX };

	return one_in(3) ? edges[below(sizeof(edges) / sizeof(*edges))] : below(5000);
}

static socklen_t length_of(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
}

static union address loopback(int family, uint16_t port)
{
	union address a = { .any.sa_family = family };

	if (family == AF_INET) {
		a.v4.sin_port = htons(port);
		a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else {
		a.v6.sin6_port = htons(port);
		a.v6.sin6_addr = in6addr_loopback;
	}
	return a;
}

/* An address of IPv4 for a socket of IPv6. */
static union address mapped(uint16_t port)
{
	union address a = { .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &a.v6.sin6_addr);
	return a;
}

static uint16_t port_here(int fd)
{
	union address a = { 0 };
	socklen_t length = sizeof(a);

	getsockname(fd, &a.any, &length);
	return port_of(&a);
}

static bool join(int one, int other, int family, bool maps)
{
	union address at = loopback(family, 0), to, back;

	if (bind(other, &at.any, length_of(&at)))
		return false;
	to = maps ? mapped(port_here(other)) : loopback(family, port_here(other));
	if (connect(one, &to.any, length_of(&to)))
		return false;
	back = loopback(family, port_here(one));
	return !connect(other, &back.any, length_of(&back));
}

static int enter_one(int fd, int family)
{
	set_option(fd, SOL_SOCKET, SO_RCVBUF, one_in(4) ? 2304 << below(6) : QUEUE_BYTES);
	if (one_in(4))
		set_option(fd, SOL_UDP, UDP_GRO, 1);
	return enter(fd, family);
}

void call_connect(int unused)
{
	bool six = one_in(3), maps = six && one_in(3);
	int family = six && !maps ? AF_INET6 : AF_INET, ends[2];
	int fds[] = { socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM, 0), socket(family, SOCK_DGRAM, 0) };

	if (all->sockets > SOCKETS_MAX - 4 || fds[0] < 0 || fds[1] < 0 || !join(fds[0], fds[1], family, maps)) {
		close(fds[0]);
		close(fds[1]);
		return;
	}
	/* What packets go by. */
	ends[0] = enter_one(fds[0], family);
	ends[1] = enter_one(fds[1], family);
	say("connect %d %d", ends[0], ends[1]);
}

void begin_sockets(void)
{
	call_connect(-1);
}

void begin_child(void)
{
}

/* What waits for more bytes leaves. */
void end_phase(void)
{
	for (int i = 0; i < all->sockets; i++)
		if (is_open(i) && all->socket[i].is_corked) {
			sent(i, TX_COPY, send(all->socket[i].fd, data, 1, 0));
			all->socket[i].is_corked = 0;
		}
}

void call_close(int i)
{
	call_error_queue(i);
	say("close %d", i);
	open_here[i] = 0;
	close(all->socket[i].fd);
}
