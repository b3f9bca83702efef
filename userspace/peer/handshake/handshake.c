// SPDX-License-Identifier: GPL-2.0
/* What listening and connecting share: addresses, and which connections need no key. */
#include "userspace/peer/handshake/handshake.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { ALIVE_IDLE_S = 4, ALIVE_EACH_S = 2, ALIVE_COUNT = 3, UNACKNOWLEDGED_MS = 10000 };

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

void handshake_notice_loss(int fd)
{
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, ALIVE_IDLE_S);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, ALIVE_EACH_S);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, ALIVE_COUNT);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS);
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static void side_of(int fd, bool there, struct sockaddr_storage *a, socklen_t *length)
{
	*a = (struct sockaddr_storage){};
	*length = sizeof(*a);
	if (there)
		getpeername(fd, (struct sockaddr *)a, length);
	else
		getsockname(fd, (struct sockaddr *)a, length);
}

void handshake_address(int fd, bool there, char address[ADDRESS_BYTES],
		     char name[NAME_OF_ADDRESS_BYTES])
{
	struct sockaddr_storage a;
	socklen_t length;
	char port[8];

	side_of(fd, there, &a, &length);
	*address = *name = '\0';
	if (getnameinfo((struct sockaddr *)&a, length, address, ADDRESS_BYTES, port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	snprintf(name, NAME_OF_ADDRESS_BYTES, strchr(address, ':') ? "[%s]:%s" : "%s:%s", address,
		 port);
}

bool address_is_local(const struct sockaddr *a)
{
	const struct in6_addr *six = &((const struct sockaddr_in6 *)a)->sin6_addr;

	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return a->sa_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(six) ||
		(IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == IN_LOOPBACKNET));
}

bool handshake_is_local(int fd, bool connected)
{
	struct sockaddr_storage a;
	socklen_t length;

	side_of(fd, false, &a, &length);
	if (!address_is_local((struct sockaddr *)&a))
		return false;
	side_of(fd, true, &a, &length);
	return !connected || address_is_local((struct sockaddr *)&a);
}

int handshake_lacks_key(const char *name)
{
	fprintf(stderr, "trace_run: other machines can reach %s, so both hosts need the same key: make it "
		"with %s and give both --key-file key\n", name, key_recipe);
	return -EINVAL;
}

struct addrinfo *handshake_resolve(const struct path_partner *partner)
{
	struct addrinfo numeric = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				    .ai_socktype = SOCK_STREAM }, *found;
	char port[8];

	snprintf(port, sizeof(port), "%d", partner->port);
	return getaddrinfo(partner->address, port, &numeric, &found) ? NULL : found;
}
