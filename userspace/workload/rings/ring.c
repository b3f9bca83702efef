// SPDX-License-Identifier: GPL-2.0
/* A ring: made, one request at a time, its completions and notifications. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/clock.h"
#include "userspace/common/system/ring_offer.h"
#include "userspace/workload/rings/rings.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"
#include "userspace/workload/stream/transfer.h"

/* One request is under way at a time, and what cancels it. */
#define ENTRIES 4
/* Of completions; the kernel keeps what finds no room. */
#define COMPLETIONS 64
/* How long the kernel's thread looks for more before it sleeps. */
#define POLLS_MS 20

/* A request by its number and the place of its message in the pool. The kernel gives it back twice for a send by
 * reference: with the result, and with the notification. */
#define PLACE_BITS 16

static const char *remedy(int err)
{
	return err == -ENOMEM ? ": raise RLIMIT_MEMLOCK" : "";
}

static int register_memory(struct ring *ring)
{
	struct iovec *memory = calloc(ring->pool_size, sizeof(*memory));
	int err = memory ? 0 : -ENOMEM;

	for (unsigned int i = 0; memory && i < ring->pool_size; i++)
		memory[i] = ring->pool[i].field[0];
	if (memory)
		err = io_uring_register_buffers(&ring->io, memory, ring->pool_size);
	free(memory);
	if (err)
		complain("cannot register %u messages of %zu bytes with io_uring: %s%s", ring->pool_size,
			 ring->pool->bytes, strerror(-err), remedy(err));
	return err;
}

struct ring *ring_create(const struct ring_manner *manner, struct message *pool, unsigned int pool_size)
{
	struct io_uring_params wanted = { .flags = IORING_SETUP_CQSIZE, .cq_entries = COMPLETIONS + 2 * pool_size };
	struct ring *ring = calloc(1, sizeof(*ring));
	int err = -ENOMEM;

	if (manner->polled) {
		wanted.flags |= IORING_SETUP_SQPOLL;
		wanted.sq_thread_idle = POLLS_MS;
	}
	if (ring) {
		*ring = (struct ring){ .manner = *manner, .pool = pool, .pool_size = pool_size };
		err = io_uring_queue_init_params(ENTRIES, &ring->io, &wanted);
	}
	if (err) {
		complain("cannot make a ring of io_uring: %s%s", strerror(-err), remedy(err));
		free(ring);
		return NULL;
	}
	if (!manner->registered || !register_memory(ring))
		return ring;
	io_uring_queue_exit(&ring->io);
	free(ring);
	return NULL;
}

void ring_destroy(struct ring *ring)
{
	if (!ring)
		return;
	/* When a process ends, the kernel takes its time to uncharge the user. */
	if (ring->manner.registered)
		io_uring_unregister_buffers(&ring->io);
	io_uring_queue_exit(&ring->io);
	ring_inbox_free(ring->inbox);
	free(ring);
}

static struct message *message_of(struct ring *ring, const struct io_uring_cqe *cqe)
{
	unsigned int place = cqe->user_data & ((1u << PLACE_BITS) - 1);

	return place < ring->pool_size ? &ring->pool[place] : NULL;
}

static void notified(struct ring *ring, struct totals *totals, const struct io_uring_cqe *cqe)
{
	struct message *message = message_of(ring, cqe);

	if (cqe->user_data == ring->unsent) {
		ring->unsent = 0;
	} else if (!message || !message->unnotified) {
		totals->completion_errors++;
	} else {
		message->unnotified--;
		totals->completions++;
		if ((uint32_t)cqe->res & IORING_NOTIF_USAGE_ZC_COPIED)
			totals->completions_copied++;
	}
}

static void ended(struct ring *ring, const struct io_uring_cqe *cqe)
{
	struct message *message = message_of(ring, cqe);

	ring->ended = true;
	ring->result = cqe->res;
	if (!(cqe->flags & IORING_CQE_F_MORE) || !message)
		return;
	if (cqe->res > 0)
		message->unnotified++;
	else
		ring->unsent = cqe->user_data;
}

void ring_read(struct ring *ring, struct connection *connection)
{
	struct io_uring_cqe *cqe;
	unsigned int head, count = 0;

	io_uring_for_each_cqe(&ring->io, head, cqe) {
		count++;
		if (cqe->flags & IORING_CQE_F_NOTIF)
			notified(ring, &connection->totals, cqe);
		else if (cqe->user_data == ring->newest)
			ended(ring, cqe);
	}
	io_uring_cq_advance(&ring->io, count);
}

enum outcome ring_turn(struct ring *ring, struct connection *connection)
{
	struct __kernel_timespec most = { .tv_nsec = STOP_TICK_MS * NS_PER_MS };
	struct io_uring_cqe *cqe;
	int err = io_uring_submit_and_wait_timeout(&ring->io, &cqe, 1, &most, NULL);

	ring_read(ring, connection);
	if (err >= 0 || err == -ETIME || err == -EINTR || err == -EAGAIN || err == -EBUSY)
		return OUTCOME_OK;
	complain("io_uring_enter on the connection to %s: %s", connection->remote, strerror(-err));
	return OUTCOME_FAILED;
}

/* A request that waits for the socket does not end by itself. What it has moved by then is its result. */
static void cancel(struct ring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->io);

	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, ring->newest, 0);
	sqe->user_data = 0;
}

bool ring_is_to_end(const struct connection *connection)
{
	return stop_requested() ||
	       (connection->cut_at_deadline && monotonic_ns() >= connection->deadline_ns);
}

enum outcome ring_request(struct ring *ring, struct connection *connection, struct io_uring_sqe *sqe,
			  unsigned int place)
{
	enum outcome outcome;
	bool cancelled = false;

	ring->newest = ((ring->newest >> PLACE_BITS) + 1) << PLACE_BITS | place;
	sqe->user_data = ring->newest;
	ring->ended = false;
	do {
		outcome = ring_turn(ring, connection);
		if (!ring->ended && !cancelled && ring_is_to_end(connection)) {
			cancel(ring);
			cancelled = true;
		}
	} while (outcome == OUTCOME_OK && !(ring->ended && !ring->unsent));
	return outcome;
}

enum outcome ring_errno(struct connection *connection, int result, const char *request)
{
	if (result == -ECANCELED)
		return OUTCOME_STOPPED;
	errno = -result;
	return transfer_errno(connection, request);
}
