/* SPDX-License-Identifier: GPL-2.0 */
/* What the two ends of a connection tell each other before and after a block of messages. */
#ifndef WORKLOAD_BLOCKS_H
#define WORKLOAD_BLOCKS_H

#include "userspace/workload/stream/connection.h"

/* Of a receiver: its process's processor time as the block began and as it had all of it, and what it had. */
struct block_report {
	uint64_t begin_ns, end_ns, received_bytes;
};

/* How many messages it has on this connection, after how many the receiver answers, if not 0: then no more are on the
 * way; and whose turn it is, from 0. */
struct block_plan {
	uint64_t messages, answer_every, way;
};

/*
 * The sender announces a block, and waits until the receiver is ready: nothing is on its way then. After the block it
 * hears the report. All go through the TCP connection, in its own direction each; beside datagrams, too.
 */
enum outcome block_announce(struct connection *connection, const struct block_plan *plan);
enum outcome block_hear(struct connection *connection, struct block_report *report);

/* The receiver awaits the next block and says that it is ready; OUTCOME_EOF: there is none. */
enum outcome block_await(struct connection *connection, struct block_plan *plan);
enum outcome block_tell(struct connection *connection, const struct block_report *report);

/* Within a block, behind so many messages: the receiver answers, and the sender hears it. */
enum outcome block_answer(struct connection *connection);
enum outcome block_hear_answer(struct connection *connection);

/* True behind message @number of a block, from 1. The last one has the report for an answer. */
bool block_answers(const struct block_plan *plan, uint64_t number);

#endif
