// SPDX-License-Identifier: GPL-2.0
/* Addresses, the listening socket and connecting. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/endpoint.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

#define BACKLOG 1024
#define CONNECT_PATIENCE_NS (2 * NS_PER_S)
#define CONNECT_RETRY_NS (10 * NS_PER_MS)

bool endpoint_parse(const char *text, unsigned int port, struct sockaddr_storage *address)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct in_addr ipv4;
	struct addrinfo *found;
	char service[12];

	/* getaddrinfo() alone would read "1.2.3" as 1.2.0.3; only it knows "fe80::1%eth0". */
	if (!strchr(text, ':') && inet_pton(AF_INET, text, &ipv4) != 1)
		return false;
	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(text, service, &hints, &found))
		return false;
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

static socklen_t address_bytes(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
						sizeof(struct sockaddr_in);
}

static unsigned int address_port(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

bool endpoint_is_from(int fd, const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *wanted = (const struct sockaddr_in6 *)address;
	struct sockaddr_storage there = {};
	const struct sockaddr_in6 *found = (const struct sockaddr_in6 *)&there;
	socklen_t len = sizeof(there);

	if (address->ss_family == AF_UNSPEC)
		return true;
	/* A client that has gone already cannot be distinguished from any other. */
	if (getpeername(fd, (struct sockaddr *)&there, &len) ||
	    there.ss_family != address->ss_family)
		return false;
	if (there.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&there)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)address)->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&found->sin6_addr, &wanted->sin6_addr) &&
	       found->sin6_scope_id == wanted->sin6_scope_id;
}

int endpoint_listen(const struct sockaddr_storage *address, unsigned int *port)
{
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	char text[ADDRESS_TEXT_BYTES];
	int one = 1, fd;

	address_to_text(address, text);
	fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		die("cannot make a socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)address, address_bytes(address)) ||
	    listen(fd, BACKLOG))
		die("cannot listen on %s: %s: choose another --listen or --port", text,
		    strerror(errno));
	if (getsockname(fd, (struct sockaddr *)&bound, &len))
		die("cannot learn the port of %s: %s", text, strerror(errno));
	*port = address_port(&bound);
	return fd;
}

/* Returns 0 or -errno. SO_SNDTIMEO bounds each wait, so that a signal is never missed. */
static int connect_once(int fd, const struct sockaddr_storage *address)
{
	struct timeval tick = { .tv_usec = STOP_TICK_MS * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof(tick));
	while (connect(fd, (const struct sockaddr *)address, address_bytes(address))) {
		if (errno == EISCONN)
			return 0;
		if (errno != EINTR && errno != EINPROGRESS && errno != EALREADY)
			return -errno;
		if (stop_requested())
			return -EINTR;
	}
	return 0;
}

int endpoint_connect(const struct sockaddr_storage *address)
{
	uint64_t give_up_ns = monotonic_ns() + CONNECT_PATIENCE_NS;
	char text[ADDRESS_TEXT_BYTES];
	int fd, err;

	for (;;) {
		fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		err = fd < 0 ? -errno : connect_once(fd, address);
		if (!err)
			return fd;
		if (fd >= 0)
			close(fd);
		if (stop_requested())
			return -EINTR;
		if (err != -ECONNREFUSED || monotonic_ns() >= give_up_ns)
			break;
		sleep_ns(CONNECT_RETRY_NS);
	}
	address_to_text(address, text);
	complain("cannot connect to %s: %s: is the server running?", text, strerror(-err));
	return -1;
}
