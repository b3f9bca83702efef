// SPDX-License-Identifier: GPL-2.0
/* One TCP connection: its socket, names, limits and totals. Owned by one thread. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/workload/stream/connection.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/process.h"
#include "userspace/workload/stream/stop.h"

#define CACHE_LINE_BYTES 64
#define GOODBYE_NS (5 * NS_PER_S)
/* For a socket that was closed: from its first retransmission until TCP forgets it; the same in a run that was
 * told to end. */
enum { CLOSED_PATIENCE_MS = 5000, STOPPED_PATIENCE_MS = 1000 };

void address_to_text(const struct sockaddr_storage *address, char text[ADDRESS_TEXT_BYTES])
{
	char host[ADDRESS_TEXT_BYTES - 16], port[8];
	bool ipv6 = address->ss_family == AF_INET6;

	if (getnameinfo((const struct sockaddr *)address, sizeof(*address), host, sizeof(host),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, ADDRESS_TEXT_BYTES, "?");
	else
		snprintf(text, ADDRESS_TEXT_BYTES, ipv6 ? "[%s]:%s" : "%s:%s", host, port);
}

int connection_identify(struct connection *connection)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(connection->cookie);

	if (getsockopt(connection->fd, SOL_SOCKET, SO_COOKIE, &connection->cookie, &len))
		return -errno;
	len = sizeof(address);
	if (getsockname(connection->fd, (struct sockaddr *)&address, &len))
		return -errno;
	address_to_text(&address, connection->local);
	len = sizeof(address);
	/* ENOTCONN: the peer has reset already. Sending or receiving will find that out. */
	if (getpeername(connection->fd, (struct sockaddr *)&address, &len))
		snprintf(connection->remote, ADDRESS_TEXT_BYTES, "?");
	else
		address_to_text(&address, connection->remote);
	return 0;
}

/* A process that is killed leaves its sockets to TCP, which tries for a minute or more to send what is queued:
 * pages of ours would stay pinned so long, and count against the user of the next run. So a socket is reset when
 * it is closed, unless connection_close() says otherwise. */
static int connection_reset_on_close(int fd, bool reset)
{
	struct linger linger = { .l_onoff = reset };

	return setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) ? -errno : 0;
}

static int connection_set_options(int fd, bool nodelay)
{
	struct timeval tick = { .tv_usec = STOP_TICK_MS * 1000 };
	int one = 1;

	/* The time limit on blocking calls covers a signal that comes just before the call. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof(tick)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tick, sizeof(tick)))
		return -errno;
	if (nodelay && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		return -errno;
	return connection_reset_on_close(fd, true);
}

struct connection *connection_create(int fd, bool nodelay)
{
	struct connection *connection;
	int err;

	/* A cache line of its own: two threads never write to the same one. */
	connection = aligned_alloc(CACHE_LINE_BYTES, (sizeof(*connection) + CACHE_LINE_BYTES - 1) /
				   CACHE_LINE_BYTES * CACHE_LINE_BYTES);
	if (!connection) {
		complain("out of memory for a connection");
		close(fd);
		return NULL;
	}
	*connection = (struct connection){ .fd = fd, .lifeline = -1, .start_ns = monotonic_ns() };
	connection->last_byte_ns = connection->start_ns;
	connection->message_limit = CONNECTION_NO_LIMIT;
	connection->deadline_ns = CONNECTION_NO_LIMIT;
	err = connection_identify(connection);
	if (!err)
		err = connection_set_options(fd, nodelay);
	if (err) {
		complain("cannot prepare a connection: %s", strerror(-err));
		connection_destroy(connection);
		return NULL;
	}
	return connection;
}

struct connection *connection_share(struct connection *connection)
{
	struct {
		struct connection connection;
		struct latency latency;
	} *both = shared_alloc(sizeof(*both));

	if (!both)
		return NULL;
	both->connection = *connection;
	both->connection.shared = true;
	both->connection.latency = &both->latency;
	free(connection);
	return &both->connection;
}

void connection_close(struct connection *connection)
{
	const int patience_ms = stop_requested() ? STOPPED_PATIENCE_MS : CLOSED_PATIENCE_MS;

	if (connection->fd < 0)
		return;
	/* Where nothing moved, nothing will. */
	if (!stop_gave_up()) {
		setsockopt(connection_stream(connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms,
			   sizeof(patience_ms));
		connection_reset_on_close(connection_stream(connection), false);
	}
	if (connection->lifeline >= 0)
		close(connection->lifeline);
	close(connection->fd);
	connection->fd = connection->lifeline = -1;
}

void connection_destroy(struct connection *connection)
{
	if (!connection)
		return;
	connection_close(connection);
	if (connection->shared)
		return;
	free(connection->latency);
	free(connection);
}

void connection_stamp(struct connection *connection)
{
	connection->last_byte_ns = monotonic_ns();
}

bool connection_is_over(const struct connection *connection)
{
	return stop_requested() || connection->totals.messages >= connection->message_limit ||
	       connection->last_byte_ns >= connection->deadline_ns;
}

bool connection_is_over_now(const struct connection *connection)
{
	return connection_is_over(connection) || monotonic_ns() >= connection->deadline_ns;
}

bool connection_peer_closed(const struct connection *connection, int timeout_ms)
{
	struct pollfd wait = { .fd = connection_stream(connection), .events = POLLRDHUP };

	return poll(&wait, 1, timeout_ms) > 0 && wait.revents & (POLLRDHUP | POLLHUP);
}

void connection_say_goodbye(struct connection *connection)
{
	uint64_t give_up_ns = monotonic_ns() + GOODBYE_NS;

	connection_note_sequence(connection);
	shutdown(connection->fd, SHUT_WR);
	while (!stop_requested() && monotonic_ns() < give_up_ns &&
	       !connection_peer_closed(connection, STOP_TICK_MS))
		;
}
