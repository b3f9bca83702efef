// SPDX-License-Identifier: GPL-2.0
/* Send a stream of messages by one variant, from a pool of message buffers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/sdt.h>
#include <unistd.h>

#include "userspace/common/clock.h"
#include "userspace/workload/sender.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

#define FINISH_STOPPED_NS (700 * NS_PER_MS)
#define QUIET_STOPPED_NS (100 * NS_PER_MS)

/* What a message of fresh memory is filled with when nobody checks it. */
#define UNCHECKED_BYTE 'A'

static unsigned int pool_size(const struct send_manner *manner)
{
	bool registered = manner->variant->row->traits & VARIANT_REGISTERED;
	size_t fit = registered ? registered_messages(manner->bytes, sysconf(_SC_PAGESIZE)) : SENDER_POOL_BYTES / manner->bytes;

	if (manner->messages && manner->messages < fit)
		fit = manner->messages;
	if (!manner->variant->pool ||
	    manner->behaviours & (BEHAVIOUR_BIT(fresh_message) | BEHAVIOUR_BIT(reuse_at_once)))
		return 1;
	if (fit < 2)
		return 2;
	return fit > SENDER_POOL_MAX ? SENDER_POOL_MAX : fit;
}

/* 0, or -ENOMEM after a complaint. */
static int open_ring(struct sender *sender)
{
	unsigned int traits = sender->manner.variant->row->traits;
	struct ring_manner manner = { .by_reference = traits & VARIANT_ASKS,
				      .registered = traits & VARIANT_REGISTERED,
				      .polled = traits & VARIANT_POLLED };

	sender->ring = ring_create(&manner, sender->message, sender->n_messages);
	return sender->ring ? 0 : -ENOMEM;
}

struct sender *sender_create(const struct send_manner *manner)
{
	struct sender *sender = aligned_alloc(SENDER_ALIGN_BYTES, sizeof(*sender));
	unsigned int traits = manner->variant->row->traits;

	if (!sender)
		goto no_memory;
	*sender = (struct sender){ .manner = *manner };
	content_begin(&sender->content, CONTENT_REPLY);
	for (unsigned int want = pool_size(manner); sender->n_messages < want;) {
		struct message *message = &sender->message[sender->n_messages++];

		if (manner->variant->alloc(message, manner->bytes))
			goto no_memory;
		if (manner->behaviours & BEHAVIOUR_BIT(fresh_message))
			message_release(message);
		else if (!manner->check_content)
			message_fill(message, &sender->content);
	}
	/* A process whose counters are still to be opened has one thread. */
	if (!(traits & VARIANT_RING) || traits & VARIANT_POLLED || !open_ring(sender))
		return sender;
	sender_destroy(sender);
	return NULL;

no_memory:
	complain("out of memory for messages of %zu bytes: use fewer bytes or clients",
		 manner->bytes);
	sender_destroy(sender);
	return NULL;
}

int sender_connect(struct sender *sender, struct connection *connection)
{
	unsigned int traits = sender->manner.variant->row->traits;
	int one = 1, err;

	sender->connection = connection;
	if (traits & VARIANT_TLS)
		return connection_begin_tls(connection, true, traits & VARIANT_TLS_OLD);
	if (traits & VARIANT_POLLED)
		return open_ring(sender);
	if (!(traits & VARIANT_SO_ZEROCOPY) ||
	    !setsockopt(connection->fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		return 0;
	err = -errno;
	complain("this kernel refuses SO_ZEROCOPY (%s): use another variant", strerror(-err));
	return err;
}

/* A tracer can see such a copy only here: the kernel takes no part in it. Once a connection, because
 * it is a trap into the kernel. */
static void tell_gathered(const struct sender *sender)
{
	const struct gathered *gathered = &sender->gathered;

	if (gathered->calls)
		DTRACE_PROBE3(copyscope, gather, gathered->bytes, sender->connection->cookie,
			      gathered->calls);
}

void sender_destroy(struct sender *sender)
{
	if (!sender)
		return;
	ring_destroy(sender->ring);
	for (unsigned int i = 0; i < sender->n_messages; i++)
		message_free(&sender->message[i]);
	for (int end = 0; sender->pipe_open && end < 2; end++)
		close(sender->pipe[end]);
	tell_gathered(sender);
	free(sender);
}

/* Makes memory and content ready for the next send. */
static enum outcome sender_ready(struct sender *sender, struct message *message)
{
	const struct send_manner *manner = &sender->manner;
	enum outcome outcome = OUTCOME_OK;

	if (manner->behaviours & BEHAVIOUR_BIT(fresh_message)) {
		if (message_replace(message))
			return OUTCOME_FAILED;
		if (!manner->check_content)
			message_set(message, UNCHECKED_BYTE);
	} else if (manner->variant->reap && !(manner->behaviours & BEHAVIOUR_BIT(reuse_at_once))) {
		outcome = manner->variant->reap(sender, message);
	}
	if (outcome == OUTCOME_OK && manner->check_content)
		message_fill(message, &sender->content);
	return outcome;
}

enum outcome sender_send(struct sender *sender)
{
	struct connection *connection = sender->connection;
	struct message *message = &sender->message[sender->next];
	enum outcome outcome;

	sender->next = (sender->next + 1) % sender->n_messages;
	outcome = sender_ready(sender, message);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = sender->manner.variant->send(sender, message);
	connection_stamp(connection);
	if (sender->manner.behaviours & BEHAVIOUR_BIT(fresh_message))
		message_release(message);
	if (outcome == OUTCOME_OK) {
		connection->totals.messages++;
		message->end_id = connection->totals.zerocopy_sends;
		message->end_position = connection->totals.accepted_bytes;
	}
	return outcome;
}

void sender_take_turn(struct sender *sender, const struct sender *last)
{
	struct connection *connection = last->connection;
	unsigned int traits = sender->manner.variant->row->traits;
	int on = !!(traits & VARIANT_SO_ZEROCOPY);

	sender->connection = connection;
	sender->content = last->content;
	/* The socket numbers the sends of all. */
	sender->completions = (struct completions){ .frontier = connection->totals.zerocopy_sends };
	sender->under_way = 0;
	if (traits & VARIANT_ASKS && !(traits & VARIANT_RING))
		setsockopt(connection->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on));
}

enum outcome sender_settle(struct sender *sender)
{
	struct connection *connection = sender->connection;
	enum outcome outcome = OUTCOME_OK;

	while (completions_outstanding(connection) && outcome == OUTCOME_OK) {
		outcome = sender->ring ? ring_turn(sender->ring, connection) :
					 completions_wait(&sender->completions, connection);
		if (outcome == OUTCOME_OK && stop_requested())
			outcome = OUTCOME_STOPPED;
	}
	return outcome;
}

static int unacknowledged_bytes(const struct connection *connection)
{
	int bytes = 0;

	ioctl(connection->fd, SIOCOUTQ, &bytes);
	return bytes;
}

/* One step of waiting; returns true when there is nothing left to wait for. */
static bool finish_step(struct sender *sender, bool reads)
{
	struct connection *connection = sender->connection;
	bool closed, got_any = false;

	if (sender->ring)
		ring_read(sender->ring, connection);
	else if (reads && completions_read(&sender->completions, connection, &got_any) != OUTCOME_OK)
		return true;
	closed = connection_peer_closed(connection, 0);
	if (closed && !(reads && completions_outstanding(connection)))
		return true;
	if (closed || !reads)
		/* poll() would return at once: hung up, or notifications nobody reads. */
		sleep_ns(NS_PER_MS);
	else
		connection_peer_closed(connection, STOP_TICK_MS);
	return false;
}

enum outcome sender_finish(struct sender *sender, uint64_t quiet_ns)
{
	struct connection *connection = sender->connection;
	bool reads = !(sender->manner.variant->row->traits & VARIANT_UNREAPED);
	int before = unacknowledged_bytes(connection);
	uint64_t moved_ns = monotonic_ns(), stopped_ns = moved_ns;
	enum outcome outcome = OUTCOME_OK;
	bool gave_up = false;

	connection_note_sequence(connection);
	shutdown(connection_stream(connection), SHUT_WR);
	while (!finish_step(sender, reads)) {
		int now = unacknowledged_bytes(connection);
		uint64_t now_ns = monotonic_ns();

		if (now != before)
			moved_ns = now_ns;
		before = now;
		if (!stop_requested())
			stopped_ns = now_ns;
		if (now_ns - stopped_ns > FINISH_STOPPED_NS ||
		    now_ns - moved_ns > (stop_requested() ? QUIET_STOPPED_NS : quiet_ns)) {
			gave_up = true;
			break;
		}
	}
	/* After a close nobody would learn whether the rest arrives. */
	if (gave_up && !stop_requested() && before) {
		complain("no progress: nothing moved for %llu s; %d bytes are not acknowledged",
			 (unsigned long long)(quiet_ns / NS_PER_S), before);
		outcome = OUTCOME_FAILED;
	}
	if (reads && !stop_requested())
		connection->totals.completion_errors += completions_outstanding(connection);
	return outcome;
}
