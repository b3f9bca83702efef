// SPDX-License-Identifier: GPL-2.0
/* What the MSG_ZEROCOPY variants share: the send, and two ways to learn a buffer is free. */
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "userspace/common/clock.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"
#include "userspace/workload/stream/transfer.h"
#include "userspace/workload/ways.h"

/* How long to try again when nothing of this connection is outstanding. */
#define ROOM_PATIENCE_NS (5 * NS_PER_S)
#define ACKNOWLEDGED_POLL_NS (50 * NS_PER_US)

static uint64_t acknowledged_position(const struct connection *connection)
{
	int queued_bytes = 0;

	ioctl(connection->fd, SIOCOUTQ, &queued_bytes);
	return connection->totals.accepted_bytes - queued_bytes;
}

static uint64_t memlock_pages(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	return limit.rlim_cur / sysconf(_SC_PAGESIZE);
}

static void complain_no_room(size_t bytes)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	/* Every connection of the run has the same trouble: one line is enough. */
	if (atomic_flag_test_and_set(&said))
		return;
	complain("a zero-copy send of %zu bytes gets ENOBUFS with none outstanding: raise "
		 "RLIMIT_MEMLOCK (now %llu pages, of all of this user's processes) or net.core.optmem_max",
		 bytes, (unsigned long long)memlock_pages());
}

/*
 * ENOBUFS: RLIMIT_MEMLOCK counts the pages of every send in flight of this *user*
 * (mm_account_pinned_pages), net.core.optmem_max the notifications of this socket. With sends
 * of our own in flight, wait for them. With none, other connections may hold the pages for a
 * while; but a send that alone exceeds the limit can never go through.
 */
static enum outcome zerocopy_wait_for_room(struct sender *sender, size_t bytes,
					   uint64_t *alone_since_ns)
{
	struct connection *connection = sender->connection;
	bool unreaped = sender->manner.variant->row->traits & VARIANT_UNREAPED;
	uint64_t now_ns = monotonic_ns();

	if (stop_requested())
		return OUTCOME_STOPPED;
	if (!unreaped && completions_outstanding(connection)) {
		*alone_since_ns = 0;
		return completions_wait(&sender->completions, connection);
	}
	if (unreaped && acknowledged_position(connection) < connection->totals.accepted_bytes) {
		*alone_since_ns = 0;
		sleep_ns(ACKNOWLEDGED_POLL_NS);
		return OUTCOME_OK;
	}
	if (!*alone_since_ns)
		*alone_since_ns = now_ns;
	/* The kernel's worst case for a send: mm_account_pinned_pages() in net/core/skbuff.c. */
	if (bytes / sysconf(_SC_PAGESIZE) + 2 > memlock_pages() ||
	    now_ns - *alone_since_ns > ROOM_PATIENCE_NS) {
		complain_no_room(bytes);
		return OUTCOME_FAILED;
	}
	sleep_ns(NS_PER_MS);
	return OUTCOME_OK;
}

enum outcome zerocopy_refused(struct sender *sender, size_t bytes, uint64_t *alone_since_ns)
{
	if (sender->manner.behaviours & BEHAVIOUR_BIT(end_on_enobufs))
		return OUTCOME_STOPPED;
	if (!(sender->manner.behaviours & BEHAVIOUR_BIT(sleep_on_enobufs)))
		return zerocopy_wait_for_room(sender, bytes, alone_since_ns);
	if (connection_is_over_now(sender->connection))
		return OUTCOME_STOPPED;
	sleep_ns(NS_PER_US);
	return OUTCOME_OK;
}

enum outcome zerocopy_send(struct sender *sender, struct message *message)
{
	struct totals *totals = &sender->connection->totals;
	bool notifies = sender->manner.variant->row->traits & VARIANT_SO_ZEROCOPY;
	struct transfer_cursor cursor;
	enum outcome outcome = OUTCOME_OK;
	uint64_t alone_since_ns = 0;

	transfer_cursor_init(&cursor, message);
	while (cursor.left_bytes && outcome == OUTCOME_OK) {
		ssize_t sent = sendmsg(sender->connection->fd, &cursor.header,
				       MSG_NOSIGNAL | MSG_ZEROCOPY);

		if (sent < 0 && errno == ENOBUFS) {
			totals->enobufs++;
			outcome = zerocopy_refused(sender, cursor.left_bytes, &alone_since_ns);
		} else if (sent < 0) {
			outcome = transfer_errno(sender->connection, "sendmsg");
		} else {
			transfer_sent(sender->connection, sent);
			totals->zerocopy_sends += notifies;
			transfer_cursor_advance(&cursor, sent);
			alone_since_ns = 0;
		}
	}
	return outcome;
}

enum outcome zerocopy_reap(struct sender *sender, struct message *message)
{
	enum outcome outcome = OUTCOME_OK;

	while (sender->completions.frontier < message->end_id && outcome == OUTCOME_OK) {
		outcome = completions_wait(&sender->completions, sender->connection);
		if (outcome == OUTCOME_OK && stop_requested())
			outcome = OUTCOME_STOPPED;
	}
	return outcome;
}

enum outcome zerocopy_reap_acknowledged(struct sender *sender, struct message *message)
{
	while (acknowledged_position(sender->connection) < message->end_position) {
		if (stop_requested())
			return OUTCOME_STOPPED;
		if (connection_peer_closed(sender->connection, 0))
			return OUTCOME_VANISHED;
		sleep_ns(ACKNOWLEDGED_POLL_NS);
	}
	return OUTCOME_OK;
}
