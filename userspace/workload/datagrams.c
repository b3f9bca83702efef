// SPDX-License-Identifier: GPL-2.0
/*
 * Sends a message as datagrams, and receives what arrives of them.
 *
 * The receiver answers with datagrams without a byte: one tells the sender that its socket is there, and one more
 * comes whenever what arrived has cost CREDIT_COST. The sender has at most WINDOW_COST under way, so that the
 * receiver's queue never overflows. What was dropped is never acknowledged: when no answer has come for LOST_MS
 * the sender counts all that is under way as gone. The TCP connection beside it tells the receiver of the end.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "userspace/common/clock.h"
#include "userspace/tables/variants.h"
#include "userspace/workload/stream/endpoint.h"
#include "userspace/workload/stream/stop.h"
#include "userspace/workload/stream/transfer.h"
#include "userspace/workload/ways.h"

/* A short datagram takes about as much of a queue besides its payload. */
#define DATAGRAM_COST 1024
#define WINDOW_COST (128 << 10)
#define CREDIT_COST (16 << 10)
#define LOST_MS 200
#define HELLO_MS 10
/* Datagrams may come after the end of the connection that they were sent before. */
#define QUIET_MS 50
/* Of a number of bytes that are awaited, the rest is lost: longer than a sender waits for an answer. */
#define GONE_MS 500

static uint64_t cost_of(size_t bytes, size_t each)
{
	return bytes + DATAGRAM_COST * ((bytes + each - 1) / each);
}

static bool is_refused(int number)
{
	/* ICMP told that the other socket is not there yet, or not any more. */
	return number == ECONNREFUSED;
}

/* Takes in the answers that have come. Returns true if there were any. */
static bool answers_read(struct sender *sender)
{
	char byte;
	bool any = false;
	ssize_t got;

	for (;;) {
		got = recv(sender->connection->fd, &byte, sizeof(byte), MSG_DONTWAIT);
		if (got < 0 && !is_refused(errno) && errno != EINTR)
			return any;
		if (got)
			continue;
		any = sender->answered = true;
		sender->under_way -= sender->under_way < CREDIT_COST ? sender->under_way : CREDIT_COST;
	}
}

/* One step of waiting for an answer or for notifications, which wake it, too. */
static enum outcome answer_await(struct sender *sender)
{
	struct connection *connection = sender->connection;
	struct pollfd wait = { .fd = connection->fd, .events = POLLIN };
	bool got_any;

	poll(&wait, 1, HELLO_MS);
	if (stop_requested())
		return OUTCOME_STOPPED;
	if (connection_peer_closed(connection, 0))
		return OUTCOME_VANISHED;
	if (!(sender->manner.variant->row->traits & VARIANT_SO_ZEROCOPY))
		return OUTCOME_OK;
	return completions_read(&sender->completions, connection, &got_any);
}

static enum outcome room_await(struct sender *sender, uint64_t cost)
{
	uint64_t since_ns = monotonic_ns();
	enum outcome outcome = OUTCOME_OK;

	answers_read(sender);
	while (!sender->answered || (sender->under_way && sender->under_way + cost > WINDOW_COST)) {
		outcome = answer_await(sender);
		if (outcome != OUTCOME_OK)
			return outcome;
		if (answers_read(sender))
			since_ns = monotonic_ns();
		else if (monotonic_ns() - since_ns > LOST_MS * NS_PER_MS)
			sender->under_way = 0;
	}
	return OUTCOME_OK;
}

/* What a send that failed means for the one after it. */
static enum outcome send_failed(struct sender *sender, size_t bytes, uint64_t *alone_since_ns)
{
	struct connection *connection = sender->connection;

	if (errno == ENOBUFS && sender->manner.variant->row->traits & VARIANT_SO_ZEROCOPY) {
		connection->totals.enobufs++;
		return zerocopy_refused(sender, bytes, alone_since_ns);
	}
	if (errno == EIO && connection->send_bytes != connection->datagram_bytes) {
		datagrams_send_one(connection);
		return OUTCOME_OK;
	}
	if (is_refused(errno))
		return connection_peer_closed(connection, 0) ? OUTCOME_VANISHED : OUTCOME_OK;
	return transfer_errno(connection, "send");
}

/* A send that is refused makes those after it shorter. */
static enum outcome send_in(struct sender *sender, struct message *message, bool each_alone)
{
	bool zerocopy = sender->manner.variant->row->traits & VARIANT_SO_ZEROCOPY;
	struct connection *connection = sender->connection;
	const char *at = message->field[0].iov_base;
	size_t left = message->bytes;
	enum outcome outcome = OUTCOME_OK;
	uint64_t alone_since_ns = 0;

	while (left && outcome == OUTCOME_OK) {
		size_t most = each_alone ? connection->datagram_bytes : connection->send_bytes;
		size_t bytes = left < most ? left : most;
		uint64_t cost = cost_of(bytes, connection->datagram_bytes);
		ssize_t sent;

		outcome = room_await(sender, cost);
		if (outcome != OUTCOME_OK)
			break;
		sent = send(connection->fd, at, bytes, MSG_NOSIGNAL | (zerocopy ? MSG_ZEROCOPY : 0));
		if (sent < 0) {
			outcome = send_failed(sender, bytes, &alone_since_ns);
			continue;
		}
		transfer_sent(connection, sent);
		connection->totals.zerocopy_sends += zerocopy;
		sender->under_way += cost;
		at += sent;
		left -= sent;
		alone_since_ns = 0;
	}
	return outcome;
}

enum outcome datagrams_send(struct sender *sender, struct message *message)
{
	return send_in(sender, message, false);
}

enum outcome datagrams_send_each(struct sender *sender, struct message *message)
{
	return send_in(sender, message, true);
}

struct arrivals {
	struct connection *connection;
	struct content content;
	bool check_content;
	uint64_t cost;		/* not acknowledged yet */
	size_t each;		/* bytes of each datagram in the buffer but the last one */
	char buffer[DATAGRAM_BYTES_MAX + 1];
};

static void answer(const struct connection *connection)
{
	send(connection->fd, NULL, 0, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Datagrams that were sent together may come so: the kernel then tells how long each is. */
static size_t bytes_each(struct msghdr *header, size_t bytes)
{
	struct cmsghdr *part;
	int each;

	for (part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		if (part->cmsg_level != IPPROTO_UDP || part->cmsg_type != UDP_GRO)
			continue;
		memcpy(&each, CMSG_DATA(part), sizeof(each));
		return each > 0 ? (size_t)each : bytes;
	}
	return bytes;
}

/* Returns what recvmsg(2) does. */
static ssize_t datagrams_take(struct arrivals *a)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec into = { a->buffer, sizeof(a->buffer) };
	struct msghdr header = { .msg_iov = &into, .msg_iovlen = 1, .msg_control = &control,
				 .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(a->connection->fd, &header, MSG_DONTWAIT);

	if (got > 0)
		a->each = bytes_each(&header, got);
	return got;
}

static void datagrams_check(struct arrivals *a, size_t bytes)
{
	for (size_t at = 0, part; at < bytes && a->check_content; at += part) {
		part = bytes - at < a->each ? bytes - at : a->each;
		if (!content_find(&a->content, a->buffer + at, part))
			a->connection->totals.content_errors += part;
	}
}

static void datagrams_arrived(struct arrivals *a, size_t bytes)
{
	struct totals *totals = &a->connection->totals;

	totals->recv_calls++;
	totals->received_bytes += bytes;
	connection_stamp(a->connection);
	for (a->cost += cost_of(bytes, a->each); a->cost >= CREDIT_COST; a->cost -= CREDIT_COST)
		answer(a->connection);
	datagrams_check(a, bytes);
}

/* Nothing is there. OUTCOME_EOF if the sender has ended, and what it sent has come. */
static enum outcome arrival_await(struct arrivals *a)
{
	struct connection *connection = a->connection;
	struct pollfd wait[] = { { .fd = connection->fd, .events = POLLIN },
				 { .fd = connection->lifeline, .events = POLLRDHUP } };

	if (stop_requested() || monotonic_ns() >= connection->deadline_ns)
		return OUTCOME_STOPPED;
	if (!connection->totals.received_bytes)
		answer(connection);
	poll(wait, 2, HELLO_MS);
	if (!wait[1].revents || wait[0].revents & POLLIN)
		return OUTCOME_OK;
	return poll(wait, 1, QUIET_MS) > 0 && wait[0].revents & POLLIN ? OUTCOME_OK : OUTCOME_EOF;
}

enum outcome datagrams_receive(struct connection *connection, bool check_content, uint64_t most_bytes)
{
	struct arrivals a = { .connection = connection, .check_content = check_content };
	const uint64_t *received = &connection->totals.received_bytes, before = *received;
	uint64_t moved_ns = monotonic_ns();
	enum outcome outcome = OUTCOME_OK;

	content_begin(&a.content, CONTENT_REPLY);
	answer(connection);
	while (outcome == OUTCOME_OK && *received - before < most_bytes) {
		ssize_t got = datagrams_take(&a);

		if (got > 0) {
			datagrams_arrived(&a, got);
			moved_ns = connection->last_byte_ns;
		} else if (most_bytes != DATAGRAMS_ALL && monotonic_ns() - moved_ns > GONE_MS * NS_PER_MS) {
			break;
		}
		if (got > 0)
			continue;
		if (!got || errno == EAGAIN || errno == EINTR || is_refused(errno))
			outcome = arrival_await(&a);
		else
			outcome = transfer_errno(connection, "recvmsg");
	}
	return outcome;
}
