/* SPDX-License-Identifier: GPL-2.0 */
/* Zero-copy notifications: read them from the error queue and account for every id. */
#ifndef WORKLOAD_COMPLETIONS_H
#define WORKLOAD_COMPLETIONS_H

#include "userspace/workload/stream/connection.h"

/*
 * The kernel numbers the zero-copy sends of a socket from 0 (32 bits, wrapping); one
 * notification covers a range of them. TCP normally completes in order, but "notifications
 * may arrive out of order on retransmission and socket teardown"
 * (Documentation/networking/msg_zerocopy.rst), so early ranges wait here for the gap to close.
 */
#define COMPLETIONS_EARLY_MAX 64

struct id_range {
	uint64_t first, end; /* end is exclusive */
};

struct completions {
	uint64_t frontier;   /* all ids below have completed; as 64-bit numbers, never wrapping */
	unsigned int n_early;
	struct id_range early[COMPLETIONS_EARLY_MAX];
};

/*
 * Account for one notification of ids @low..@high when @sends have been made so far. Returns
 * how many ids it covered, or 0 when it names an id twice or one that was never sent.
 */
uint64_t completions_mark(struct completions *completions, uint64_t sends,
			  uint32_t low, uint32_t high);

/*
 * Read everything that waits on the error queue, without blocking, into the totals. Returns
 * OUTCOME_OK, or OUTCOME_FAILED after a complaint. @got_any tells whether anything was there.
 */
enum outcome completions_read(struct completions *completions, struct connection *connection,
			      bool *got_any);

/* Wait at most STOP_TICK_MS for a notification, then read. Same results as above. */
enum outcome completions_wait(struct completions *completions, struct connection *connection);

/* Zero-copy sends not completed yet. */
uint64_t completions_outstanding(const struct connection *connection);

#endif
