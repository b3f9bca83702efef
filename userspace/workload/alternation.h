/* SPDX-License-Identifier: GPL-2.0 */
/* Several ways to send take turns within each connection, a block of messages at a time. */
#ifndef WORKLOAD_ALTERNATION_H
#define WORKLOAD_ALTERNATION_H

#include "userspace/tables/blocks.h"
#include "userspace/workload/sender.h"
#include "userspace/workload/settings.h"

/* The senders of one connection, one for each way; without an alternation there is one. */
struct team {
	struct sender *of[WAYS_MOST];
	unsigned int size;
};

/* NULL after a complaint. */
struct team *team_create(const struct settings *settings, uint64_t messages);
void team_destroy(struct team *team);

struct alternation;

/* While the process may still open files. Never fails: a machine without /proc has no machine_ns. */
struct alternation *alternation_create(const struct settings *settings);
void alternation_destroy(struct alternation *alternation);

/*
 * Sends on the team's connection in step with all others. A round has a block of each way, in random order; each way sends
 * as many messages, chosen so that one end works about as long as asked in a block of the first one. The first round is
 * not kept. Rounds go on until the settings' seconds are over.
 */
enum outcome alternation_serve(struct alternation *alternation, const struct team *team);

/* What was measured, in the order of time; @count of them. After all threads have ended. */
const struct block *alternation_blocks(const struct alternation *alternation, size_t *count);

/* True if no clock of this machine tells this number of BLOCK_NUMBERS. */
bool alternation_hides(const struct alternation *alternation, const char *number);

/* What all connections together send in a block. */
uint64_t alternation_block_bytes(const struct alternation *alternation);

#endif
