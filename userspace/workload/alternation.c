// SPDX-License-Identifier: GPL-2.0
/* Several ways to send take turns within each connection, a block of messages at a time. */
#include "userspace/workload/alternation.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/clock.h"
#include "userspace/common/system/cpu_time.h"
#include "userspace/workload/blocks.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/stop.h"

/* A number of messages is tried so often, and the shortest block counts: others may have been interrupted. */
#define TRIES 3
#define MESSAGES_MOST (1u << 24)

struct alternation {
	const struct settings *settings;
	struct cpu_clocks clocks;
	uint64_t random;

	/* Threads meet: the last one acts for all, and they go on. */
	pthread_mutex_t lock;
	pthread_cond_t acted;
	unsigned int here;
	uint64_t meetings;
	bool over;

	/* The block that is next or under way. */
	uint64_t messages;			/* on each connection */
	unsigned int order[WAYS_MOST], place;	/* of the ways in this round, and where it is */
	struct block block;
	struct cpu_time machine;
	bool machine_hidden, ksoftirqd_hidden;	/* no clock tells them */
	uint64_t receiver_begin_ns, receiver_end_ns, received_bytes;

	unsigned int tries;			/* of this number of messages; TRIES: it is found */
	uint64_t shortest_ns;			/* processor time */
	uint64_t end_ns;			/* no round begins later; 0: the first one is not over */
	struct block *blocks;
	size_t count, capacity;
};

/* Threads that meet. */

static void condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static struct timespec next_tick(void)
{
	uint64_t ns = monotonic_ns() + STOP_TICK_MS * NS_PER_MS;

	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

/* Waits until the threads of all connections are here; the last one calls @act. False: there is no more to do. */
static bool meet(struct alternation *a, void (*act)(struct alternation *a))
{
	bool go_on;

	pthread_mutex_lock(&a->lock);
	if (++a->here == a->settings->threads) {
		a->here = 0;
		a->meetings++;
		if (!a->over)
			act(a);
		pthread_cond_broadcast(&a->acted);
	} else {
		for (uint64_t before = a->meetings; a->meetings == before && !a->over;) {
			struct timespec tick = next_tick();

			pthread_cond_timedwait(&a->acted, &a->lock, &tick);
			a->over |= stop_requested();
		}
	}
	go_on = !a->over;
	pthread_mutex_unlock(&a->lock);
	return go_on;
}

/* The others would wait for this one. */
static void leave(struct alternation *a)
{
	pthread_mutex_lock(&a->lock);
	a->over = true;
	pthread_cond_broadcast(&a->acted);
	pthread_mutex_unlock(&a->lock);
}

/* What the last one does for all. */

/* xorshift64 (Marsaglia, 2003). */
static uint64_t random_below(struct alternation *a, uint64_t end)
{
	a->random ^= a->random << 13;
	a->random ^= a->random >> 7;
	a->random ^= a->random << 17;
	return a->random % end;
}

static void shuffle(struct alternation *a)
{
	for (unsigned int i = a->settings->n_ways - 1; i > 0; i--) {
		unsigned int other = random_below(a, i + 1), mine = a->order[i];

		a->order[i] = a->order[other];
		a->order[other] = mine;
	}
}

/* One step towards the number of messages, after a block of the first way. How long it is tells the processor time of the
 * end that works more: on a busy machine a wait for a processor may be longer than the block. */
static void calibrate(struct alternation *a)
{
	uint64_t wanted_ns = a->settings->block_ns, busy_ns = a->block.sender_ns;

	if (a->block.receiver_ns > busy_ns)
		busy_ns = a->block.receiver_ns;
	if (!a->tries || busy_ns < a->shortest_ns)
		a->shortest_ns = busy_ns;
	if (++a->tries < TRIES)
		return;
	if (a->shortest_ns < wanted_ns / 2 && a->messages < MESSAGES_MOST) {
		a->messages *= 2;
		a->tries = 0;
	} else {
		a->messages = (a->messages * wanted_ns + a->shortest_ns / 2) / (a->shortest_ns ? a->shortest_ns : 1);
		if (!a->messages)
			a->messages = 1;
	}
}

static bool has_room(struct alternation *a)
{
	size_t capacity = a->capacity ? 2 * a->capacity : 1024;
	void *bigger;

	if (a->count + a->settings->n_ways <= a->capacity)
		return true;
	bigger = capacity <= 2 * BLOCKS_MOST ? reallocarray(a->blocks, capacity, sizeof(*a->blocks)) : NULL;
	if (bigger) {
		a->blocks = bigger;
		a->capacity = capacity;
	}
	return bigger;
}

/* Decides on the next block, or that there is none. */
static void choose(struct alternation *a)
{
	if (a->tries < TRIES || a->place < a->settings->n_ways)
		return;
	if (!a->end_ns)
		a->end_ns = monotonic_ns() + a->settings->duration_ns;
	a->over = monotonic_ns() >= a->end_ns || a->count + a->settings->n_ways > BLOCKS_MOST || !has_room(a);
	a->place = 0;
	shuffle(a);
}

static void block_begins(struct alternation *a)
{
	a->block = (struct block){ .way = a->order[a->place] };
	a->receiver_begin_ns = a->receiver_end_ns = a->received_bytes = 0;
	a->machine = cpu_time_read(&a->clocks);
	a->block.sender_ns = processor_ns();
	a->block.wall_ns = monotonic_ns();
}

static void block_ends(struct alternation *a)
{
	uint64_t wall_ns = monotonic_ns(), used_ns = processor_ns(), sent_bytes = alternation_block_bytes(a);
	struct cpu_time machine = cpu_time_read(&a->clocks);
	struct block *block = &a->block;

	a->machine_hidden |= !machine.known;
	a->ksoftirqd_hidden |= !machine.threads_known;

	block->wall_ns = wall_ns - block->wall_ns;
	block->sender_ns = used_ns - block->sender_ns;
	block->receiver_ns = a->receiver_end_ns - a->receiver_begin_ns;
	block->machine_ns = machine.busy_ns - a->machine.busy_ns;
	block->ksoftirqd_ns = machine.softirq_threads_ns - a->machine.softirq_threads_ns;
	/* A datagram that was given up may come in the next block. */
	block->lost_bytes = sent_bytes > a->received_bytes ? sent_bytes - a->received_bytes : 0;
	if (a->tries < TRIES) {
		calibrate(a);
		return;
	}
	a->place++;
	/* The first round warms caches and pools. */
	if (a->end_ns)
		a->blocks[a->count++] = *block;
}

/* What each thread does. */

/* The receiver's threads look at the clock of one process: between the last beginning and the last end it worked. */
static void note_report(struct alternation *a, const struct block_report *report)
{
	pthread_mutex_lock(&a->lock);
	if (report->begin_ns > a->receiver_begin_ns)
		a->receiver_begin_ns = report->begin_ns;
	if (report->end_ns > a->receiver_end_ns)
		a->receiver_end_ns = report->end_ns;
	a->received_bytes += report->received_bytes;
	pthread_mutex_unlock(&a->lock);
}

/* What Nagle's algorithm holds back would wait for a late acknowledgement. */
static void push(const struct connection *connection)
{
	const int on = 1, off = 0;

	if (connection->lifeline >= 0)
		return;
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &off, sizeof(off));
}

static enum outcome send_block(const struct block_plan *plan, struct sender *sender)
{
	enum outcome outcome = OUTCOME_OK;

	for (uint64_t i = 1; i <= plan->messages && outcome == OUTCOME_OK; i++) {
		outcome = stop_requested() ? OUTCOME_STOPPED : sender_send(sender);
		if (outcome == OUTCOME_OK && block_answers(plan, i))
			outcome = block_hear_answer(sender->connection);
	}
	/* With answers Nagle's algorithm is off for good (server.c). */
	if (!plan->answer_every)
		push(sender->connection);
	return outcome == OUTCOME_OK ? sender_settle(sender) : outcome;
}

static enum outcome serve_block(struct alternation *a, struct sender *sender)
{
	struct block_report report;
	const struct block_plan plan = { a->messages, a->settings->answer_every, a->order[a->place] };
	enum outcome outcome = block_announce(sender->connection, &plan);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!meet(a, block_begins))
		return OUTCOME_STOPPED;
	outcome = send_block(&plan, sender);
	if (outcome == OUTCOME_OK)
		outcome = block_hear(sender->connection, &report);
	if (outcome != OUTCOME_OK)
		return outcome;
	note_report(a, &report);
	return meet(a, block_ends) ? OUTCOME_OK : OUTCOME_STOPPED;
}

enum outcome alternation_serve(struct alternation *a, const struct team *team)
{
	enum outcome outcome = OUTCOME_OK;
	struct sender *last = team->of[0];

	while (outcome == OUTCOME_OK && meet(a, choose)) {
		struct sender *sender = team->of[a->order[a->place]];

		sender_take_turn(sender, last);
		outcome = serve_block(a, sender);
		last = sender;
	}
	leave(a);
	return outcome;
}

struct alternation *alternation_create(const struct settings *settings)
{
	struct alternation *a = calloc(1, sizeof(*a));

	if (!a)
		die("out of memory");
	a->settings = settings;
	a->random = monotonic_ns() | 1;
	a->messages = 1;
	for (unsigned int i = 0; i < settings->n_ways; i++)
		a->order[i] = i;
	pthread_mutex_init(&a->lock, NULL);
	condition_init(&a->acted);
	cpu_clocks_open(&a->clocks);
	return a;
}

void alternation_destroy(struct alternation *a)
{
	if (!a)
		return;
	cpu_clocks_close(&a->clocks);
	pthread_cond_destroy(&a->acted);
	pthread_mutex_destroy(&a->lock);
	free(a->blocks);
	free(a);
}

const struct block *alternation_blocks(const struct alternation *a, size_t *count)
{
	*count = a->count;
	return a->blocks;
}

bool alternation_hides(const struct alternation *a, const char *number)
{
	return (a->machine_hidden && !strcmp(number, "machine_ns")) ||
	       (a->ksoftirqd_hidden && !strcmp(number, "ksoftirqd_ns"));
}

uint64_t alternation_block_bytes(const struct alternation *a)
{
	return a->messages * a->settings->bytes * a->settings->threads;
}

struct team *team_create(const struct settings *settings, uint64_t messages)
{
	struct team *team = calloc(1, sizeof(*team));

	if (!team)
		complain("out of memory for a sender");
	for (unsigned int i = 0; team && i < settings->n_ways; i++) {
		team->of[i] = sender_create(&(struct send_manner){ .variant = settings->ways[i],
								  .bytes = settings->bytes,
								  .piece_bytes = settings->piece_bytes,
								  .behaviours = settings->behaviours,
								  .check_content = settings->check_content,
								  .messages = messages });
		if (!team->of[i]) {
			team_destroy(team);
			return NULL;
		}
		team->size++;
	}
	return team;
}

void team_destroy(struct team *team)
{
	for (unsigned int i = 0; team && i < team->size; i++)
		sender_destroy(team->of[i]);
	free(team);
}
