// SPDX-License-Identifier: GPL-2.0
/* Sends a message by io_uring: IORING_OP_SEND; IORING_OP_SEND_ZC, whose memory is reused after its notification. */
#include <errno.h>

#include "userspace/common/clock.h"
#include "userspace/common/system/ring_offer.h"
#include "userspace/workload/rings/rings.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"
#include "userspace/workload/stream/transfer.h"

/* How long to try again when nothing of this connection is in flight. */
#define ROOM_PATIENCE_NS (5 * NS_PER_S)

/* Sends from @at on; the result is in the ring then. */
static enum outcome request(struct ring *ring, struct connection *connection, const struct message *message, size_t at)
{
	const char *from = (const char *)message->field[0].iov_base + at;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->io);
	unsigned int place = message - ring->pool;

	if (!ring->manner.by_reference)
		io_uring_prep_send(sqe, connection->fd, from, message->bytes - at, MSG_NOSIGNAL);
	else if (!ring->manner.registered)
		io_uring_prep_send_zc(sqe, connection->fd, from, message->bytes - at, MSG_NOSIGNAL,
				      IORING_SEND_ZC_REPORT_USAGE);
	else
		io_uring_prep_send_zc_fixed(sqe, connection->fd, from, message->bytes - at, MSG_NOSIGNAL,
					    IORING_SEND_ZC_REPORT_USAGE, place);
	return ring_request(ring, connection, sqe, place);
}

/*
 * ENOMEM: RLIMIT_MEMLOCK counts the pages of every send in flight of this *user* (io_notif_account_mem). With
 * sends of our own in flight, wait for them; other connections may hold the pages for a while.
 */
static enum outcome wait_for_room(struct ring *ring, struct connection *connection, size_t bytes,
				  uint64_t *alone_since_ns)
{
	uint64_t now_ns = monotonic_ns();

	if (stop_requested())
		return OUTCOME_STOPPED;
	if (connection->totals.zerocopy_sends != connection->totals.completions) {
		*alone_since_ns = 0;
		return ring_turn(ring, connection);
	}
	if (!*alone_since_ns)
		*alone_since_ns = now_ns;
	if (now_ns - *alone_since_ns > ROOM_PATIENCE_NS) {
		complain("SEND_ZC of %zu bytes gets ENOMEM with none outstanding: raise RLIMIT_MEMLOCK", bytes);
		return OUTCOME_FAILED;
	}
	sleep_ns(NS_PER_MS);
	return OUTCOME_OK;
}

enum outcome ring_send(struct ring *ring, struct connection *connection, struct message *message)
{
	enum outcome outcome = OUTCOME_OK;
	uint64_t alone_since_ns = 0;
	size_t at = 0;

	while (at < message->bytes && outcome == OUTCOME_OK) {
		outcome = request(ring, connection, message, at);
		if (outcome != OUTCOME_OK)
			break;
		if (ring->result == -ENOMEM && ring->manner.by_reference) {
			outcome = wait_for_room(ring, connection, message->bytes - at, &alone_since_ns);
		} else if (ring->result < 0) {
			outcome = ring_errno(connection, ring->result, "send by io_uring");
		} else {
			transfer_sent(connection, ring->result);
			connection->totals.zerocopy_sends += ring->manner.by_reference;
			at += ring->result;
			alone_since_ns = 0;
		}
	}
	return outcome;
}

enum outcome ring_reap(struct ring *ring, struct connection *connection, struct message *message)
{
	enum outcome outcome = OUTCOME_OK;

	while (message->unnotified && outcome == OUTCOME_OK) {
		outcome = ring_turn(ring, connection);
		if (outcome == OUTCOME_OK && stop_requested())
			outcome = OUTCOME_STOPPED;
	}
	return outcome;
}
