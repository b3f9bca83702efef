// SPDX-License-Identifier: GPL-2.0
/* Addresses, the listening socket, connecting; a socket for datagrams beside a connection. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/common/numeric_address.h"
#include "userspace/tables/variants.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/endpoint.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

#define BACKLOG 1024
#define CONNECT_PATIENCE_NS (2 * NS_PER_S)
#define CONNECT_RETRY_NS (10 * NS_PER_MS)

/* As much as users may ask for by default (net.core.rmem_max), and more than is ever under way. */
#define QUEUE_BYTES 212992
#define IPV6_HEADER_BYTES 40
#define IPV4_HEADER_BYTES 20
#define UDP_HEADER_BYTES 8

bool endpoint_parse(const char *text, unsigned int port, struct sockaddr_storage *address)
{
	if (!numeric_address_parse(text, address))
		return false;
	endpoint_set_port(address, port);
	return true;
}

static unsigned int address_port(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

void endpoint_set_port(struct sockaddr_storage *address, unsigned int port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
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

int endpoint_listen(const struct sockaddr_storage *address, bool shares_port, unsigned int *port)
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
	if (shares_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)))
		die("cannot share a port: %s", strerror(errno));
	if (bind(fd, (const struct sockaddr *)address, numeric_address_bytes(address)) ||
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
	while (connect(fd, (const struct sockaddr *)address, numeric_address_bytes(address))) {
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

/* One socket for each connection of a server: they share its port, and are told apart by their peers. */
static int connect_beside(int fd, int stream)
{
	struct timeval tick = { .tv_usec = STOP_TICK_MS * 1000 };
	struct sockaddr_storage near, far;
	socklen_t near_bytes = sizeof(near), far_bytes = sizeof(far);
	int one = 1, queue = QUEUE_BYTES;

	if (getsockname(stream, (struct sockaddr *)&near, &near_bytes) ||
	    getpeername(stream, (struct sockaddr *)&far, &far_bytes) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof(tick)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof(queue)) ||
	    bind(fd, (struct sockaddr *)&near, near_bytes) ||
	    connect(fd, (struct sockaddr *)&far, far_bytes))
		return -errno;
	return 0;
}

/* By the route's MTU: IP would cut longer ones, and then copy what was to be referenced. */
static void datagrams_size(struct connection *connection, bool ipv6, size_t most_bytes)
{
	int mtu = 0, headers = (ipv6 ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES) + UDP_HEADER_BYTES, cut;
	socklen_t size = sizeof(mtu);

	getsockopt(connection->fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_MTU : IP_MTU, &mtu, &size);
	cut = mtu > headers ? mtu - headers : 1;
	if (cut > DATAGRAM_BYTES_MAX)
		cut = DATAGRAM_BYTES_MAX;
	if (most_bytes && most_bytes < (size_t)cut)
		cut = most_bytes;
	connection->datagram_bytes = connection->send_bytes = cut;
	/* Since 4.18 the kernel cuts a send itself. */
	if (2 * cut <= DATAGRAM_BYTES_MAX &&
	    !setsockopt(connection->fd, IPPROTO_UDP, UDP_SEGMENT, &cut, sizeof(cut))) {
		int count = DATAGRAM_BYTES_MAX / cut;

		connection->send_bytes *= count < DATAGRAMS_OF_SEND_MAX ? count : DATAGRAMS_OF_SEND_MAX;
	}
}

void datagrams_send_one(struct connection *connection)
{
	int none = 0;

	setsockopt(connection->fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none));
	connection->send_bytes = connection->datagram_bytes;
}

int datagrams_open(struct connection *connection, const struct datagram_manner *manner)
{
	struct sockaddr_storage address = {};
	socklen_t size = sizeof(address);
	int fd, err, together = !manner->each_alone;

	err = getsockname(connection->fd, (struct sockaddr *)&address, &size) ? -errno : 0;
	fd = err ? -1 : socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!err)
		err = fd < 0 ? -errno : connect_beside(fd, connection->fd);
	if (!err) {
		connection->lifeline = connection->fd;
		connection->fd = fd;
		datagrams_size(connection, address.ss_family == AF_INET6, manner->most_bytes);
		/* Datagrams that were sent together then arrive so. */
		setsockopt(fd, IPPROTO_UDP, UDP_GRO, &together, sizeof(together));
		return connection_identify(connection);
	}
	complain("cannot send datagrams beside the connection from %s: %s", connection->local, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}
