/* SPDX-License-Identifier: GPL-2.0 */
/* The table of behaviours: what programs of published experiments do otherwise than ours. */
#ifndef COPYSCOPE_BEHAVIOURS_H
#define COPYSCOPE_BEHAVIOURS_H

#include "userspace/tables/rows.h"

enum behaviour_trait {
	BEHAVIOUR_OF_SENDER = 1,
	BEHAVIOUR_OF_RECEIVER = 2,	/* it needs a receiver of whole messages */
	BEHAVIOUR_ZEROCOPY = 4,		/* for variants that set SO_ZEROCOPY alone */
	BEHAVIOUR_AT_ONCE = 8,		/* not for variants that read completions */
	BEHAVIOUR_DATAGRAMS = 16,	/* for variants that send by UDP alone */
};

/* X(symbol, name, traits, meaning): off unless a run asks for it. */
#define BEHAVIOURS(X)                                                                         \
	X(client_processes, "client-processes", BEHAVIOUR_OF_RECEIVER,                        \
	  "each connection's receiver is a process, not a thread")                            \
	X(fresh_message, "fresh-message", BEHAVIOUR_OF_SENDER | BEHAVIOUR_AT_ONCE,            \
	  "allocate each message, free it as soon as send returns")                           \
	X(fresh_buffer, "fresh-buffer", BEHAVIOUR_OF_RECEIVER,                                \
	  "allocate and free the receiver's memory each message")                         \
	X(reuse_at_once, "reuse-at-once",                                                     \
	  BEHAVIOUR_OF_SENDER | BEHAVIOUR_ZEROCOPY | BEHAVIOUR_AT_ONCE,                       \
	  "send from one memory, wait for no acknowledgement")                       \
	X(end_on_enobufs, "end-on-enobufs", BEHAVIOUR_OF_SENDER | BEHAVIOUR_ZEROCOPY,         \
	  "a send that gets ENOBUFS ends its connection")                                     \
	X(sleep_on_enobufs, "sleep-on-enobufs", BEHAVIOUR_OF_SENDER | BEHAVIOUR_ZEROCOPY,     \
	  "after ENOBUFS sleep 1 us and send again")                                          \
	X(no_gro, "no-gro", BEHAVIOUR_OF_RECEIVER | BEHAVIOUR_DATAGRAMS,                      \
	  "the receiver takes each datagram by itself, without UDP_GRO")

#define BEHAVIOUR_ENUM(symbol, name, traits, meaning) BEHAVIOUR_##symbol,
enum behaviour { BEHAVIOURS(BEHAVIOUR_ENUM) BEHAVIOUR_COUNT };
#undef BEHAVIOUR_ENUM

/* A set of behaviours has this bit for each. */
#define BEHAVIOUR_BIT(symbol) (1u << BEHAVIOUR_##symbol)

extern const struct table_row behaviour_rows[BEHAVIOUR_COUNT];

/* Reads names with commas between them, or none. Returns 0, or -1 when one is unknown. */
int behaviours_read(const char *list, unsigned int *set);

/* Writes the names of a set as behaviours_read() reads them, cut short if there is no room. */
void behaviours_write(unsigned int set, char *list, size_t size);

/* Why a sender of a variant with these traits cannot behave so, or NULL. */
const char *behaviours_fault(unsigned int set, unsigned int variant_traits);

/* True if the kernel may still read memory that a sender of such a variant has given up. */
bool behaviours_overwrite(unsigned int set, unsigned int variant_traits);

/* True if one of the set is for receivers of whole messages, which readers are not. */
bool behaviours_want_messages(unsigned int set);

#endif
