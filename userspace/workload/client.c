// SPDX-License-Identifier: GPL-2.0
/* The client: one connection and one thread each, receive and check what the server sends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/clock.h"
#include "userspace/workload/blocks.h"
#include "userspace/workload/run.h"
#include "userspace/workload/stream/endpoint.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/transfer.h"
#include "userspace/workload/ways.h"

#define READERS_BUFFER_BYTES (64 << 10)

/* Several threads that empty one socket together, without regard to messages. */

#define CACHE_LINE_BYTES 64

struct reader {
	pthread_t thread;
	const struct worker *worker;
	unsigned int number;
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

	worker_begin(reader->worker, reader->number, reader->worker->settings->readers);
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

/*
 * Receives on the worker's connection with --readers threads, this one included, until the peer
 * ends. The bytes that one thread gets lie anywhere in the stream: they are counted, not checked.
 */
static enum outcome readers_drain(struct worker *worker)
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
		readers[i] = (struct reader){ .worker = worker, .number = i, .connection = connection };
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

static enum outcome read_stream(struct worker *worker, struct receiver *receiver)
{
	struct connection *connection = worker->connection;
	uint64_t previous_ns = 0;

	for (;;) {
		enum outcome outcome = receiver_receive(receiver);

		if (outcome != OUTCOME_OK)
			return outcome;
		connection->totals.messages++;
		if (previous_ns)
			latency_add(connection->latency, connection->last_byte_ns - previous_ns);
		previous_ns = connection->last_byte_ns;
		if (connection_is_over(connection))
			return OUTCOME_STOPPED;
	}
}

static enum outcome read_messages(struct worker *worker, struct receiver *receiver, const struct block_plan *plan)
{
	struct connection *connection = worker->connection;
	enum outcome outcome = OUTCOME_OK;

	if (worker->settings->datagrams)
		return datagrams_receive(connection, worker->settings->check_content,
					 plan->messages * worker->settings->bytes);
	for (uint64_t i = 1; i <= plan->messages && outcome == OUTCOME_OK; i++) {
		outcome = receiver_receive(receiver);
		if (outcome == OUTCOME_OK && block_answers(plan, i))
			outcome = block_answer(connection);
	}
	return outcome == OUTCOME_EOF ? OUTCOME_VANISHED : outcome;
}

/* Of each way one, or one for all; they read one stream, each where the last one ended. */
struct receivers {
	struct receiver of[WAYS_MOST];
	unsigned int count, last;
};

static void receivers_close(struct receivers *receivers)
{
	for (unsigned int i = 0; i < receivers->count; i++)
		receiver_deinit(&receivers->of[i]);
}

static int receivers_open(struct receivers *receivers, struct worker *worker, const struct receive_manner *manner)
{
	const struct settings *settings = worker->settings;
	unsigned int count = settings->n_receivers ? settings->n_receivers : 1;

	for (unsigned int i = 0; i < count; i++) {
		struct receive_manner each = *manner;

		if (settings->n_receivers)
			each.method = settings->receivers[i];
		if (receiver_init(&receivers->of[i], worker->connection, &each, CONTENT_REPLY))
			return -ENOMEM;
		receivers->count++;
	}
	return 0;
}

/* NULL: the server has more ways than this end was told of. */
static struct receiver *receivers_turn(struct receivers *receivers, const struct block_plan *plan)
{
	unsigned int next = receivers->count > 1 ? plan->way : 0;

	if (next >= receivers->count)
		return NULL;
	receivers->of[next].content = receivers->of[receivers->last].content;
	receivers->last = next;
	return &receivers->of[next];
}

/* In blocks, which the sender announces. */
static enum outcome read_blocks(struct worker *worker, struct receivers *receivers)
{
	struct connection *connection = worker->connection;
	struct block_plan plan;

	for (;;) {
		enum outcome outcome = block_await(connection, &plan);
		struct receiver *receiver = outcome == OUTCOME_OK ? receivers_turn(receivers, &plan) : NULL;
		uint64_t begin_ns = processor_ns(), before = connection->totals.received_bytes;
		struct block_report report;

		if (outcome == OUTCOME_OK && !receiver) {
			complain("the server has more ways than --in-blocks names receivers");
			return OUTCOME_FAILED;
		}
		if (outcome == OUTCOME_OK)
			outcome = read_messages(worker, receiver, &plan);
		report = (struct block_report){ begin_ns, processor_ns(), connection->totals.received_bytes - before };
		if (outcome == OUTCOME_OK)
			outcome = block_tell(connection, &report);
		if (outcome != OUTCOME_OK)
			return outcome;
		connection->totals.messages += plan.messages;
	}
}

static enum outcome ask_once(struct connection *connection, const struct message *request,
			     struct receiver *replies)
{
	uint64_t asked_ns = monotonic_ns();
	enum outcome outcome;

	outcome = transfer_send(connection, request->field[0].iov_base, request->bytes, 0);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = receiver_receive(replies);
	if (outcome == OUTCOME_EOF)
		return OUTCOME_VANISHED;
	if (outcome == OUTCOME_OK) {
		connection->totals.messages++;
		latency_add(connection->latency, connection->last_byte_ns - asked_ns);
	}
	return outcome;
}

static enum outcome ask(struct worker *worker, struct receiver *replies)
{
	struct connection *connection = worker->connection;
	enum outcome outcome = OUTCOME_OK;
	struct message request;
	struct content content;

	content_begin(&content, CONTENT_REQUEST);
	if (message_alloc_contiguous(&request, worker->settings->bytes)) {
		complain("out of memory for a request: use fewer bytes or threads");
		message_free(&request);
		return OUTCOME_FAILED;
	}
	message_fill(&request, &content);
	while (outcome == OUTCOME_OK && !connection_is_over(connection)) {
		outcome = ask_once(connection, &request, replies);
		if (worker->settings->check_content)
			message_fill(&request, &content);
	}
	message_free(&request);
	return outcome;
}

/* A message may arrive in part: those are counted that the bytes make. */
static enum outcome drain_datagrams(struct worker *worker)
{
	struct connection *connection = worker->connection;
	enum outcome outcome = datagrams_receive(connection, worker->settings->check_content,
						  DATAGRAMS_ALL);

	connection->totals.messages = connection->totals.received_bytes / worker->settings->bytes;
	return outcome;
}

static void *work(void *data)
{
	struct worker *worker = data;
	const struct settings *settings = worker->settings;
	const struct receive_manner manner = {
		.method = settings->receiver,
		.bytes = settings->bytes,
		.fresh = settings->behaviours & BEHAVIOUR_BIT(fresh_buffer),
		.check_content = settings->check_content,
	};
	struct receivers receivers = {};
	enum outcome outcome;

	if (settings->readers)
		return worker_finish(worker, readers_drain(worker));
	worker_begin(worker, 0, 1);
	if (settings->datagrams && !settings->in_blocks)
		return worker_finish(worker, drain_datagrams(worker));
	if (!worker->connection->latency)
		worker->connection->latency = calloc(1, sizeof(struct latency));
	if (!worker->connection->latency ||
	    receivers_open(&receivers, worker, &manner)) {
		receivers_close(&receivers);
		return worker_finish(worker, OUTCOME_FAILED);
	}
	if (settings->in_blocks) {
		outcome = read_blocks(worker, &receivers);
	} else if (settings->pattern == PATTERN_STREAM) {
		outcome = read_stream(worker, &receivers.of[0]);
	} else {
		outcome = ask(worker, &receivers.of[0]);
		connection_say_goodbye(worker->connection);
	}
	receivers_close(&receivers);
	/* The sender then ends it wherever it is. */
	if (outcome == OUTCOME_VANISHED && settings->behaviours & BEHAVIOUR_BIT(end_on_enobufs))
		outcome = OUTCOME_EOF;
	return worker_finish(worker, outcome);
}

static void connection_limit(struct connection *connection, const struct settings *settings,
			     unsigned int index)
{
	/* In stream the server decides when to stop; here only a user sets a deadline. */
	if (settings->pattern == PATTERN_RR && settings->messages)
		connection->message_limit = settings_share(settings->messages, index,
							   settings->threads);
	if (settings->duration_ns)
		connection->deadline_ns = connection->start_ns + settings->duration_ns;
	connection->cut_at_deadline = settings->pattern == PATTERN_STREAM;
}

/* What a connection has besides TCP. The kernel gives no TLS to one whose other end has closed (tls_init() in
 * net/tls/tls_main.c), as a short stream soon does: so it is asked for before anything else, and a parent is told. */
static int prepare(struct connection *connection, const struct settings *settings)
{
	unsigned int traits = settings->receiver->row->traits;

	if (settings->datagrams)
		return datagrams_open(connection, &settings->datagram_manner);
	return traits & RECEIVER_TLS ? connection_begin_tls(connection, false, traits & RECEIVER_TLS_OLD) : 0;
}

/* Connects all, in order, before any thread starts: accept order is connect order. */
static int connect_all(struct run *run)
{
	const struct settings *settings = run->settings;

	while (run->n_workers < settings->threads) {
		int fd = endpoint_connect(&settings->address);
		struct connection *connection;

		if (fd == -EINTR) {
			complain("a signal ended it with %u of %u connections made", run->n_workers,
				 settings->threads);
			run->failed = true;
			return -1;
		}
		connection = fd < 0 ? NULL :
				      connection_create(fd, settings->pattern == PATTERN_RR || settings->datagrams);
		if (connection && prepare(connection, settings)) {
			connection_destroy(connection);
			connection = NULL;
		}
		if (!connection || !run_add(run, connection)) {
			run->failed = true;
			return -1;
		}
		connection->opened = true;
		connection_limit(connection, settings, run->n_workers - 1);
	}
	return 0;
}

void client_run(struct run *run)
{
	struct watch watch;

	if (parent_wait(run->settings, 0)) {
		run->failed = true;
		return;
	}
	worker_announce(run->settings);
	if (connect_all(run) == 0 && run->settings->receiver->row->traits & RECEIVER_TLS)
		parent_tell(run->settings, 0);
	if (!run->failed && run->settings->behaviours & BEHAVIOUR_BIT(client_processes))
		run_fork(run, work);
	else if (!run->failed)
		for (unsigned int i = 0; i < run->n_workers; i++)
			run_start(run, run->worker[i], work);
	watch_begin(&watch, run);
	watch_join_all(&watch, run);
}
