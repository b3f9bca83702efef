/* SPDX-License-Identifier: GPL-2.0 */
/* One TCP connection: its socket, names, limits and totals. Owned by one thread. */
#ifndef WORKLOAD_CONNECTION_H
#define WORKLOAD_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "userspace/workload/stream/latency.h"

/*
 * The one list of counters: the struct, the sum and the JSON keys come from it.
 * messages            whole ones: sent by a server, received by a client
 * accepted_bytes      returned by send calls
 * received_bytes      returned by receive calls
 * gather_bytes        copied into a staging buffer by this program
 * send_calls          that accepted bytes (a refused or interrupted call is not one)
 * recv_calls          that returned bytes
 * zerocopy_sends      MSG_ZEROCOPY sends that succeeded with SO_ZEROCOPY set, and SEND_ZC of io_uring
 * completions         ids that notifications covered
 * completions_copied  those whose notification said SO_EE_CODE_ZEROCOPY_COPIED, or IORING_NOTIF_USAGE_ZC_COPIED
 * completion_errors   ids covered twice, never sent, or never completed
 * enobufs             sends refused with ENOBUFS
 * map_calls           TCP_ZEROCOPY_RECEIVE that found bytes, mapped or not
 * content_errors      received bytes that were wrong
 * peer_vanished       1 when the peer went away at the wrong time
 */
#define TOTALS(X)             \
	X(messages)           \
	X(accepted_bytes)     \
	X(received_bytes)     \
	X(gather_bytes)       \
	X(send_calls)         \
	X(recv_calls)         \
	X(zerocopy_sends)     \
	X(completions)        \
	X(completions_copied) \
	X(completion_errors)  \
	X(enobufs)            \
	X(map_calls)          \
	X(content_errors)     \
	X(peer_vanished)

struct totals {
#define TOTALS_FIELD(name) uint64_t name;
	TOTALS(TOTALS_FIELD)
#undef TOTALS_FIELD
};

static inline void totals_add(struct totals *sum, const struct totals *more)
{
#define TOTALS_ADD(name) sum->name += more->name;
	TOTALS(TOTALS_ADD)
#undef TOTALS_ADD
}

/* How an operation, and at last a connection, ended. */
enum outcome {
	OUTCOME_OK,       /* go on */
	OUTCOME_EOF,      /* the peer shut down writing */
	OUTCOME_STOPPED,  /* a signal or the deadline ended it */
	OUTCOME_VANISHED, /* the peer went away at the wrong time */
	OUTCOME_FAILED,   /* anything else; already complained about */
};

#define CONNECTION_NO_LIMIT UINT64_MAX
#define ADDRESS_TEXT_BYTES 80 /* "[" IPv6 "%" interface "]:" port */

/* What TCP itself counted on a connection (sequence.c). */
struct sequence {
	bool read;
	const char *why;         /* the numbers are not known; NULL: they are */
	uint64_t accepted_bytes, returned_bytes, retransmitted_bytes;
};

struct connection {
	int fd;			 /* what carries messages */
	int lifeline;		 /* where that is a socket for datagrams (endpoint.h): the TCP socket beside it; else -1 */
	size_t datagram_bytes;	 /* then: the longest that is not cut on the way, */
	size_t send_bytes;	 /* and what a send may be cut into such */
	bool opened;             /* by this end, whose SYN then has a sequence number */
	uint64_t cookie;         /* SO_COOKIE: how the kernel names this socket */
	char local[ADDRESS_TEXT_BYTES];
	char remote[ADDRESS_TEXT_BYTES];
	uint64_t message_limit;  /* or CONNECTION_NO_LIMIT */
	uint64_t deadline_ns;    /* monotonic_ns() at which to stop, or CONNECTION_NO_LIMIT */
	bool cut_at_deadline;    /* the deadline may end a receive call inside a message */
	uint64_t start_ns;
	uint64_t last_byte_ns;   /* end of the last message; start_ns before the first */
	struct totals totals;
	struct sequence sequence;
	struct latency *latency; /* NULL at a server */
	bool shared;             /* with child processes, the latency, too */
	enum outcome outcome;
};

/*
 * Takes over @fd, which is connected and has carried no payload yet. Reads the cookie and
 * both addresses, bounds every blocking call by STOP_TICK_MS. Returns NULL (fd closed) when
 * the system refuses, after a complaint.
 */
struct connection *connection_create(int fd, bool nodelay);

/* Reads the cookie and both addresses of its .fd. 0 or -errno. */
int connection_identify(struct connection *connection);

/* The TCP socket, which tells how long the connection lives. */
static inline int connection_stream(const struct connection *connection)
{
	return connection->lifeline < 0 ? connection->fd : connection->lifeline;
}

/* Moves it into memory that child processes share, and returns it there. NULL without memory: it has not
 * moved. */
struct connection *connection_share(struct connection *connection);
void connection_close(struct connection *connection);
void connection_destroy(struct connection *connection);

/* "192.0.2.1:9000" or "[2001:db8::1]:9000". */
void address_to_text(const struct sockaddr_storage *address, char text[ADDRESS_TEXT_BYTES]);

/* Note that payload moved just now. */
void connection_stamp(struct connection *connection);

/*
 * True if a signal, the deadline or the message limit has ended this connection. connection_is_over
 * takes the time of the last message for the present: a loop that has just moved one needs no other
 * look at the clock. connection_is_over_now looks.
 */
bool connection_is_over(const struct connection *connection);
bool connection_is_over_now(const struct connection *connection);

/* Waits up to @timeout_ms; returns early when the socket has errors or notifications. */
bool connection_peer_closed(const struct connection *connection, int timeout_ms);

/*
 * Notes what TCP accepted and returned. Call it when the last call that sends or receives has returned,
 * and before writing is shut down; a later call only updates what was retransmitted.
 */
void connection_note_sequence(struct connection *connection);

/* Gives both directions kernel TLS with keys that both ends know beforehand, in TLS 1.2 if @old, else 1.3. @server: which
 * end this is. 0, or -errno after a complaint. */
int connection_begin_tls(struct connection *connection, bool server, bool old);

/* A fault for tests: counts a FIN as if it were a byte. */
void connection_break_sequence(void);

/* Shut down writing and wait (at most 5 s) for the peer's close: no reset, no lost data. */
void connection_say_goodbye(struct connection *connection);

#endif
