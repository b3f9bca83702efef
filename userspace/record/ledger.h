/* SPDX-License-Identifier: GPL-2.0 */
/* What the probes counted: books of each socket, their sum, the stacks that copied; sums of counts. */
#ifndef COPYSCOPE_RECORD_LEDGER_H
#define COPYSCOPE_RECORD_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/include/sites.h"
#include "bpf/include/watch.h"
#include "userspace/path/path_info.h"

enum { STACK_TEXT_BYTES = 640 };

struct socket_books {
	uint64_t cookie;
	enum end host;		/* path peer: whose host counted it; else 0. Both may use a cookie. */
	bool datagrams;		/* UDP, else TCP */
	uint64_t unscattered_sends;	/* as in struct watch_slot */
	struct books books;
};

/* A place that copied late or reshaped, by the stack that led there. */
struct copy_stack {
	enum site site;
	unsigned int circumstances;	/* bits of enum circumstance */
	char frames[STACK_TEXT_BYTES];	/* innermost caller first, joined by " < " */
	struct tally tally;
};

/* All that the probes counted. */
struct ledger {
	struct books total;
	struct socket_books *sockets;	/* owned */
	int socket_count;
	struct gauges gauges;
	struct copy_stack *stacks;	/* owned */
	int stack_count;
};

/* Frees what the ledger owns and empties it. */
void ledger_free(struct ledger *ledger);

/* Makes @to, which owned nothing yet, a copy of @from. 0 or -ENOMEM. */
int ledger_copy(struct ledger *to, const struct ledger *from);

/* Each adds what an int64 holds, and returns false if a sum would exceed it. */
bool count_add(unsigned long long *into, unsigned long long more);
bool tally_add(struct tally *into, const struct tally *more);
bool books_add(struct books *into, const struct books *more);

/* What kernel TLS did with the bytes of a socket, by its calls; what TCP carried of that is not in it. */
void books_of_tls(struct books *b, const struct tls_book *tls);

/* What hooks of any socket's calls and copies counted, beside what @b has of hooks of details. @tls: NULL without kernel
 * TLS. */
void books_of_slot(struct books *b, const struct watch_slot *slot, uint64_t rx_copied, const struct tls_book *tls);

/* Bytes that a send copied on a socket whose other sends reference: some left in packets of their
 * own, the rest with user pages of a neighbouring send, where the packet shows them as user pages. */
uint64_t books_mixed_bytes(const unsigned long long count[COUNT_COUNT]);

/* User pages in packets that left for the first time: one that is cut between two packets counts in both. */
uint64_t books_pages_left(const unsigned long long count[COUNT_COUNT]);

/* What receives took out of the socket by a copy or threw away: where no hook sees bytes that leave as pages, the rest
 * of what left are these. */
uint64_t books_taken(const struct books *b);

/* What the programs above TCP, and above kernel TLS where it lies between, had accepted of them. */
uint64_t books_accepted(const struct books *b);

#endif
