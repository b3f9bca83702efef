/* SPDX-License-Identifier: GPL-2.0 */
/* The table of receivers: how the receiving end takes one message. */
#ifndef COPYSCOPE_RECEIVERS_H
#define COPYSCOPE_RECEIVERS_H

#include "userspace/tables/rows.h"

enum receiver_trait {
	RECEIVER_PLAIN = 0,
	RECEIVER_BLIND = 1,	/* the bytes reach none of its memory: it cannot check them */
	RECEIVER_PEEKS = 2,	/* it copies each byte before it takes it */
	/* What RECEIVER_TLS and RECEIVER_TLS_OLD say: it is for senders by variants with the same. */
	RECEIVER_TLS = 32,
	RECEIVER_TLS_OLD = 64,
	RECEIVER_RING = 4,	/* it receives by io_uring */
	RECEIVER_MULTISHOT = 8,	/* into memory that the kernel chooses: it checks bytes where they lie */
	RECEIVER_SPLICES = 128,	/* it takes pages, to a pipe */
	RECEIVER_MAPS = 256,	/* it takes pages where it can, by TCP_ZEROCOPY_RECEIVE */
};

/* X(symbol, name, traits, meaning), the default first: userspace/workload/receiver.c receives so. */
#define RECEIVERS(X)                                                         \
	X(recv, "recv", RECEIVER_PLAIN, "recv() into one buffer")            \
	X(perfield, "perfield", RECEIVER_PLAIN, "recv() into each of 8 fields") \
	X(recvmsg, "recvmsg", RECEIVER_PLAIN, "recvmsg() with 8 pieces")     \
	X(trunc, "trunc", RECEIVER_BLIND, "recv(MSG_TRUNC), which drops the bytes") \
	X(peek, "peek", RECEIVER_PEEKS, "recv(MSG_PEEK), then recv() of the same bytes") \
	X(splice, "splice", RECEIVER_SPLICES, "splice() to a pipe, and on") \
	X(map, "map", RECEIVER_MAPS, "TCP_ZEROCOPY_RECEIVE, recv() of what it cannot map") \
	X(ktls, "ktls", RECEIVER_TLS, "as recv, over kernel TLS 1.3")        \
	X(ktls_old, "ktls-1.2", RECEIVER_TLS | RECEIVER_TLS_OLD, "as ktls, TLS 1.2") \
	X(uring, "uring", RECEIVER_RING, "io_uring's IORING_OP_RECV into one buffer") \
	X(uring_multishot, "uring-multishot", RECEIVER_RING | RECEIVER_MULTISHOT, \
	  "one RECV of io_uring's for all, multishot")

#define RECEIVER_ENUM(symbol, ...) RECEIVER_##symbol,
enum receiver_id { RECEIVERS(RECEIVER_ENUM) RECEIVER_COUNT };
#undef RECEIVER_ENUM

extern const struct table_row receiver_rows[RECEIVER_COUNT];

/* The number of a receiver, or -1. */
int receiver_number(const char *name);

/* True if @name is a receiver that has all of @traits. */
bool receiver_has(const char *name, unsigned int traits);

/* The receiver that is meant where none is named: it has the TLS of a sender with the traits @variant. */
const char *receiver_implied(unsigned int variant);

/* Why a sender with the traits @variant cannot be received so, or NULL. */
const char *receiver_fault(const char *name, unsigned int variant);

/* Why one cannot take turns with others on a connection of a sender with the traits @variant, or NULL. */
const char *receiver_turn_fault(const char *name, unsigned int variant);

/* All names, for a text: "recv perfield ... ". */
#define RECEIVER_NAME(symbol, name, ...) name " "
#define RECEIVER_NAMES RECEIVERS(RECEIVER_NAME)

#endif
