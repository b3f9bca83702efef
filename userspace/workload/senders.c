// SPDX-License-Identifier: GPL-2.0
/* Several threads that send on one socket together. */
#include "userspace/workload/senders.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/workload/alternation.h"
#include "userspace/workload/stream/fail.h"

#define CACHE_LINE_BYTES 64

/* One thread. Its connection is a copy, so that two threads never write to one: its totals are added at the end. */
struct co_sender {
	pthread_t thread;
	struct worker *worker;
	unsigned int number;
	struct team *team;	/* NULL: the first, whose sender is the worker's */
	struct sender *sender;
	struct connection own;
	enum outcome outcome;
} __attribute__((aligned(CACHE_LINE_BYTES)));

static void *co_sender_work(void *data)
{
	struct co_sender *mine = data;

	worker_begin(mine->worker, mine->number, mine->worker->settings->senders);
	mine->outcome = OUTCOME_OK;
	while (mine->outcome == OUTCOME_OK && !connection_is_over(&mine->own))
		mine->outcome = sender_send(mine->sender);
	return NULL;
}

/* 0, or -1 after a complaint. */
static int co_sender_prepare(struct co_sender *mine, struct worker *worker, unsigned int number, struct sender *first)
{
	const struct connection *connection = worker->connection;
	unsigned int count = worker->settings->senders;

	*mine = (struct co_sender){ .worker = worker, .number = number, .own = *connection, .sender = first };
	if (connection->message_limit != CONNECTION_NO_LIMIT)
		mine->own.message_limit = settings_share(connection->message_limit, number, count);
	if (number) {
		mine->team = team_create(worker->settings, 0);
		mine->sender = mine->team ? mine->team->of[0] : NULL;
	}
	if (!mine->sender)
		return -1;
	mine->sender->connection = &mine->own;
	return 0;
}

/* The connection gets the totals of all and the worst outcome. */
static void co_sender_settle(struct co_sender *mine, enum outcome *outcome)
{
	struct connection *connection = mine->worker->connection;

	totals_add(&connection->totals, &mine->own.totals);
	if (mine->own.last_byte_ns > connection->last_byte_ns)
		connection->last_byte_ns = mine->own.last_byte_ns;
	if (mine->outcome > *outcome)
		*outcome = mine->outcome;
	/* It tells of what it gathered when it is destroyed. */
	mine->sender->connection = connection;
	team_destroy(mine->team);
}

enum outcome senders_serve(struct worker *worker, struct sender *first)
{
	unsigned int count = worker->settings->senders, prepared = 0, started = 1;
	struct co_sender *all = aligned_alloc(CACHE_LINE_BYTES, count * sizeof(*all));
	enum outcome outcome = OUTCOME_OK;

	while (all && prepared < count && !co_sender_prepare(&all[prepared], worker, prepared, first))
		prepared++;
	if (!all)
		complain("out of memory for %u senders: use fewer", count);
	if (prepared < count)
		outcome = OUTCOME_FAILED;
	for (int err = 0; outcome == OUTCOME_OK && started < count; started += !err) {
		err = pthread_create(&all[started].thread, NULL, co_sender_work, &all[started]);
		if (!err)
			continue;
		complain("cannot start sender %u: %s", started, strerror(err));
		outcome = OUTCOME_FAILED;
	}
	if (prepared == count)
		co_sender_work(&all[0]);
	for (unsigned int i = 1; prepared == count && i < started; i++)
		pthread_join(all[i].thread, NULL);
	for (unsigned int i = 0; i < prepared; i++)
		co_sender_settle(&all[i], &outcome);
	free(all);
	return outcome;
}
