// SPDX-License-Identifier: GPL-2.0
/* What the two ends of a connection tell each other before and after a block of messages. */
#include "userspace/workload/blocks.h"

#include <endian.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "userspace/workload/stream/transfer.h"

/* The connection that carries words: where datagrams carry messages, nobody counts its bytes. */
static struct connection *words_of(struct connection *connection, struct connection *beside)
{
	if (connection->lifeline < 0)
		return connection;
	*beside = *connection;
	beside->fd = connection->lifeline;
	return beside;
}

static enum outcome say(struct connection *connection, const uint64_t *numbers, int count)
{
	struct connection beside;
	uint64_t words[3];

	for (int i = 0; i < count; i++)
		words[i] = htobe64(numbers[i]);
	return transfer_send(words_of(connection, &beside), words, count * sizeof(*words), 0);
}

static enum outcome hear(struct connection *connection, uint64_t *numbers, int count)
{
	struct connection beside;
	enum outcome outcome = transfer_recv(words_of(connection, &beside), numbers, count * sizeof(*numbers), 0);

	for (int i = 0; i < count; i++)
		numbers[i] = be64toh(numbers[i]);
	return outcome;
}

/* OUTCOME_EOF inside of what the other end still has to say means that it is gone. */
static enum outcome hear_more(struct connection *connection, uint64_t *numbers, int count)
{
	enum outcome outcome = hear(connection, numbers, count);

	return outcome == OUTCOME_EOF ? OUTCOME_VANISHED : outcome;
}

enum outcome block_announce(struct connection *connection, const struct block_plan *plan)
{
	const uint64_t numbers[] = { plan->messages, plan->answer_every, plan->way };
	enum outcome outcome = say(connection, numbers, 3);
	uint64_t again;

	return outcome == OUTCOME_OK ? hear_more(connection, &again, 1) : outcome;
}

bool block_answers(const struct block_plan *plan, uint64_t number)
{
	return plan->answer_every && number < plan->messages && !(number % plan->answer_every);
}

enum outcome block_answer(struct connection *connection)
{
	const uint64_t word = 0;

	return say(connection, &word, 1);
}

enum outcome block_hear_answer(struct connection *connection)
{
	uint64_t word;

	return hear_more(connection, &word, 1);
}

enum outcome block_hear(struct connection *connection, struct block_report *report)
{
	uint64_t numbers[3] = {};
	enum outcome outcome = hear_more(connection, numbers, 3);

	*report = (struct block_report){ numbers[0], numbers[1], numbers[2] };
	return outcome;
}

/* A receiver that has answered is taken for one that will again, and so acknowledges late (pingpong mode,
 * net/ipv4/tcp_output.c, tcp_event_data_sent). In a stream it would not. */
static void acknowledge_as_in_a_stream(const struct connection *connection)
{
	const int one = 1;

	if (connection->lifeline < 0)
		setsockopt(connection->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
}

enum outcome block_await(struct connection *connection, struct block_plan *plan)
{
	uint64_t numbers[3] = {};
	enum outcome outcome = hear(connection, numbers, 3);

	*plan = (struct block_plan){ numbers[0], numbers[1], numbers[2] };
	if (outcome == OUTCOME_OK)
		outcome = say(connection, numbers, 1);
	if (!plan->answer_every)
		acknowledge_as_in_a_stream(connection);
	return outcome;
}

enum outcome block_tell(struct connection *connection, const struct block_report *report)
{
	const uint64_t numbers[] = { report->begin_ns, report->end_ns, report->received_bytes };

	return say(connection, numbers, 3);
}
