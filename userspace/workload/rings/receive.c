// SPDX-License-Identifier: GPL-2.0
/* Receives by io_uring: a request for each piece, or one for all of them into memory that the kernel chooses from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "userspace/common/clock.h"
#include "userspace/workload/rings/rings.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

enum { BUFFERS = 16, BUFFER_BYTES = 64 << 10, GROUP = 0 };

/* Memory provided for a multishot receive, and the piece of it that is being taken. */
struct ring_inbox {
	struct io_uring_buf_ring *offered;
	char *memory;
	bool armed;		/* the request is under way */
	const char *at;		/* what is left of the newest piece */
	size_t left;
	int held;		/* the buffer that it lies in; -1: none */
};

static void count_received(struct connection *connection, int bytes)
{
	connection->totals.recv_calls++;
	connection->totals.received_bytes += bytes;
}

enum outcome ring_receive(struct ring *ring, struct connection *connection, const struct message *message)
{
	char *to = message->field[0].iov_base;
	enum outcome outcome = OUTCOME_OK;
	size_t at = 0;

	while (at < message->bytes && outcome == OUTCOME_OK) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->io);

		io_uring_prep_recv(sqe, connection->fd, to + at, message->bytes - at, 0);
		outcome = ring_request(ring, connection, sqe, 0);
		if (outcome != OUTCOME_OK)
			return outcome;
		if (!ring->result)
			return OUTCOME_EOF;
		if (ring->result < 0) {
			outcome = ring_errno(connection, ring->result, "receive by io_uring");
			continue;
		}
		count_received(connection, ring->result);
		at += ring->result;
	}
	return outcome;
}

static void *pages(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void offer(struct ring_inbox *inbox, int buffer, int ahead)
{
	io_uring_buf_ring_add(inbox->offered, inbox->memory + (size_t)buffer * BUFFER_BYTES, BUFFER_BYTES, buffer,
			      io_uring_buf_ring_mask(BUFFERS), ahead);
}

int ring_provide(struct ring *ring)
{
	struct ring_inbox *inbox = calloc(1, sizeof(*inbox));
	struct io_uring_buf_reg group = { .ring_entries = BUFFERS, .bgid = GROUP };
	int err = -ENOMEM;

	ring->inbox = inbox;
	if (inbox) {
		inbox->held = -1;
		inbox->offered = pages(BUFFERS * sizeof(struct io_uring_buf));
		inbox->memory = pages(BUFFERS * BUFFER_BYTES);
	}
	if (inbox && inbox->offered && inbox->memory) {
		group.ring_addr = (uintptr_t)inbox->offered;
		err = io_uring_register_buf_ring(&ring->io, &group, 0);
	}
	if (err) {
		complain("cannot provide memory to io_uring: %s", strerror(-err));
		return err;
	}
	io_uring_buf_ring_init(inbox->offered);
	for (int i = 0; i < BUFFERS; i++)
		offer(inbox, i, i);
	io_uring_buf_ring_advance(inbox->offered, BUFFERS);
	return 0;
}

void ring_inbox_free(struct ring_inbox *inbox)
{
	if (!inbox)
		return;
	if (inbox->offered)
		munmap(inbox->offered, BUFFERS * sizeof(struct io_uring_buf));
	if (inbox->memory)
		munmap(inbox->memory, BUFFERS * BUFFER_BYTES);
	free(inbox);
}

static void give_back(struct ring_inbox *inbox)
{
	if (inbox->held < 0)
		return;
	offer(inbox, inbox->held, 0);
	io_uring_buf_ring_advance(inbox->offered, 1);
	inbox->held = -1;
}

static void arm(struct ring *ring, const struct connection *connection)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->io);

	io_uring_prep_recv_multishot(sqe, connection->fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	sqe->user_data = ++ring->newest;
	ring->inbox->armed = true;
}

/* Takes one completion. ENOBUFS: all memory is full, and the request has ended. */
static enum outcome take(struct ring *ring, struct connection *connection, const struct io_uring_cqe *cqe)
{
	struct ring_inbox *inbox = ring->inbox;

	if (cqe->user_data != ring->newest)
		return OUTCOME_OK;
	if (!(cqe->flags & IORING_CQE_F_MORE))
		inbox->armed = false;
	if (!cqe->res)
		return OUTCOME_EOF;
	if (cqe->res < 0)
		return cqe->res == -ENOBUFS ? OUTCOME_OK : ring_errno(connection, cqe->res, "receive by io_uring");
	count_received(connection, cqe->res);
	inbox->held = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
	inbox->at = inbox->memory + (size_t)inbox->held * BUFFER_BYTES;
	inbox->left = cqe->res;
	return OUTCOME_OK;
}

/* The next completion, or none by the next tick. */
static enum outcome next(struct ring *ring, struct connection *connection)
{
	struct __kernel_timespec most = { .tv_nsec = STOP_TICK_MS * NS_PER_MS };
	struct io_uring_cqe *cqe;
	enum outcome outcome;

	if (io_uring_peek_cqe(&ring->io, &cqe) &&
	    (io_uring_submit_and_wait_timeout(&ring->io, &cqe, 1, &most, NULL) < 0 || io_uring_peek_cqe(&ring->io, &cqe)))
		return ring_is_to_end(connection) ? OUTCOME_STOPPED : OUTCOME_OK;
	outcome = take(ring, connection, cqe);
	io_uring_cqe_seen(&ring->io, cqe);
	return outcome;
}

enum outcome ring_next(struct ring *ring, struct connection *connection, size_t most, const char **from, size_t *bytes)
{
	struct ring_inbox *inbox = ring->inbox;
	enum outcome outcome = OUTCOME_OK;

	while (!inbox->left && outcome == OUTCOME_OK) {
		give_back(inbox);
		if (!inbox->armed)
			arm(ring, connection);
		outcome = next(ring, connection);
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	*bytes = inbox->left < most ? inbox->left : most;
	*from = inbox->at;
	inbox->at += *bytes;
	inbox->left -= *bytes;
	return OUTCOME_OK;
}

void ring_settle(struct ring *ring, struct connection *connection)
{
	struct io_uring_sqe *sqe = ring->inbox->armed ? io_uring_get_sqe(&ring->io) : NULL;

	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, ring->newest, 0);
	sqe->user_data = 0;
	io_uring_submit(&ring->io);
	for (int tries = 0; ring->inbox->armed && tries < 2 * BUFFERS; tries++)
		next(ring, connection);
}
