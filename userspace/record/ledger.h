/* SPDX-License-Identifier: GPL-2.0 */
/* What the probes counted: books of each socket, their sum, the stacks that copied. */
#ifndef COPYSCOPE_LEDGER_H
#define COPYSCOPE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/sites.h"
#include "userspace/path/path_info.h"

enum { STACK_TEXT_BYTES = 640 };

struct socket_books {
	uint64_t cookie;
	enum end host;		/* path peer: whose host counted it; else 0. Both may use a cookie. */
	struct books books;
};

/* A place that copied late or reshaped, by the stack that led there. */
struct copy_stack {
	enum site site;
	unsigned int circumstances;	/* bits of enum circumstance */
	char frames[STACK_TEXT_BYTES];	/* innermost caller first, joined by " < " */
	struct tally tally;
};

/* One reading of all that the probes counted. */
struct ledger {
	struct books total;
	struct socket_books *sockets;	/* owned */
	int socket_count;
	struct gauges gauges;
	struct copy_stack *stacks;	/* owned */
	int stack_count;
	bool peak_unknown;	/* of a difference whose highest peak lies before it */
};

/* Frees what the ledger owns and empties it. */
void ledger_free(struct ledger *ledger);

/*
 * Fills @between, which owns nothing yet, with what happened between two readings of one window:
 *
 * - counts, sites, stacks, lost updates: the later less the earlier; a socket or stack that only the
 *   later one has counts from 0, one that did not move stays with zeros, or, if a stack, is left out;
 * - outstanding_pages: a level, so the later one's;
 * - peak_pages: the highest since the window was opened, so the later one's if it has risen since;
 *   else peak_unknown is set: what the highest was in between, nobody noted;
 * - first_byte_ns: 0, not known, if the first byte came before.
 *
 * 0, -ENOMEM, or -ERANGE if anything counts less in the later reading: then the two are not of one
 * window, or in the wrong order.
 */
int ledger_difference(const struct ledger *later, const struct ledger *earlier,
		      struct ledger *between);

/* Makes @to, which owned nothing yet, a copy of @from. 0 or -ENOMEM. */
int ledger_copy(struct ledger *to, const struct ledger *from);

#endif
