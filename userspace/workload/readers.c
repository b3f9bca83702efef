// SPDX-License-Identifier: GPL-2.0
/* Several threads that empty one socket together, without regard to messages. */
#include <stdlib.h>
#include <string.h>

#include "userspace/common/bell/bell.h"
#include "userspace/common/clock.h"
#include "userspace/workload/common/fail.h"
#include "userspace/workload/readers.h"
#include "userspace/workload/stream/transfer.h"

#define CACHE_LINE_BYTES 64

struct reader {
	pthread_t thread;
	const struct connection *connection; /* shared: nobody writes to it while readers run */
	uint64_t received_bytes, recv_calls, last_byte_ns;
	enum outcome outcome;
} __attribute__((aligned(CACHE_LINE_BYTES)));

static enum outcome read_once(struct reader *reader, char *buffer)
{
	ssize_t got = recv(reader->connection->fd, buffer, READERS_BUFFER_BYTES, 0);

	if (!got)
		return OUTCOME_EOF;
	if (got < 0)
		return transfer_errno(reader->connection, "recv");
	reader->recv_calls++;
	reader->received_bytes += got;
	reader->last_byte_ns = monotonic_ns();
	return connection_is_over_now(reader->connection) ? OUTCOME_STOPPED : OUTCOME_OK;
}

static void *reader_work(void *data)
{
	struct reader *reader = data;
	char buffer[READERS_BUFFER_BYTES];

	bell_ring(BELL_RECEIVER);
	do
		reader->outcome = read_once(reader, buffer);
	while (reader->outcome == OUTCOME_OK);
	return NULL;
}

/* Adds the totals of one reader; the connection gets the worst outcome of all. */
static void reader_settle(const struct reader *reader, struct connection *connection,
			  enum outcome *outcome)
{
	connection->totals.received_bytes += reader->received_bytes;
	connection->totals.recv_calls += reader->recv_calls;
	if (reader->last_byte_ns > connection->last_byte_ns)
		connection->last_byte_ns = reader->last_byte_ns;
	if (reader->outcome > *outcome)
		*outcome = reader->outcome;
}

enum outcome readers_drain(struct worker *worker)
{
	struct connection *connection = worker->connection;
	unsigned int n = worker->settings->readers, started = 1;
	enum outcome outcome = OUTCOME_EOF;
	struct reader *readers = aligned_alloc(CACHE_LINE_BYTES, n * sizeof(*readers));

	if (!readers) {
		complain("out of memory for %u readers: use fewer", n);
		return OUTCOME_FAILED;
	}
	for (unsigned int i = 0; i < n; i++)
		readers[i] = (struct reader){ .connection = connection };
	for (int err = 0; started < n && !err; started += !err) {
		err = pthread_create(&readers[started].thread, NULL, reader_work,
				     &readers[started]);
		if (err)
			complain("cannot start reader %u: %s", started, strerror(err));
	}
	reader_work(&readers[0]);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(readers[i].thread, NULL);
	for (unsigned int i = 0; i < started; i++)
		reader_settle(&readers[i], connection, &outcome);
	free(readers);
	connection->totals.messages = connection->totals.received_bytes / worker->settings->bytes;
	return started < n ? OUTCOME_FAILED : outcome;
}
