// SPDX-License-Identifier: GPL-2.0
/*
 * What parts of random programs share: sockets and what each call moved, dice, buffers; what a protocol brings.
 *
 * All processes of a program map `all`; a socket has the same place there in each of them.
 */
#ifndef TESTS_FUZZ_PROGRAM_PROGRAM_H
#define TESTS_FUZZ_PROGRAM_PROGRAM_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

enum moved {
	TX_COPY,
	TX_REFERENCE,
	TX_SPLICE,
	RX_COPY,
	RX_MAP,
	RX_SPLICE,
	RX_DISCARD,
	PEEKED,
	ACCEPTED,
	RETURNED,
	ZEROCOPY_SENDS,
	COMPLETED,
	COPIED,
	MOVED_COUNT
};

/* What became of a socket, as some numbers of it cannot be told by its calls alone then. */
enum mark {
	MARK_URGENT = 1 << 0,
	MARK_FAST_OPEN = 1 << 1,
	MARK_CONNECTED_ANEW = 1 << 2,
	MARK_RETRANSMITTED = 1 << 3,
	MARK_SENT_IN_SEVERAL_WAYS = 1 << 4,
	MARK_COUNT = 5
};

/* Ways to send that a socket may use. */
enum way { WAY_COPY = 1, WAY_REFERENCE = 2, WAY_SPLICE = 4 };

enum { SOCKETS_MAX = 1024, PROCESSES_MAX = 64, PARTS_MAX = 64, BUFFER_BYTES = 4 << 20, HOLE_BYTES = 64 * 4096 };

struct sock {
	int fd, other, family;
	uint16_t local_port, remote_port;
	uint64_t cookie;
	int ways;
	_Atomic int ways_used;
	/* UDP: a datagram waits for more bytes. */
	_Atomic int is_corked;
	/* Calls of two threads in the same direction have an order that nobody can tell. */
	_Atomic int is_live, sends, receives, marks;
	_Atomic int64_t moved[MOVED_COUNT];
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct listener {
	int fd, family;
	uint16_t port;
};

struct switches {
	int forks, threads, rings, executes, urgent, fast_open, verbose, connections;
	/* Calls that are made, by bit. */
	uint64_t calls;
};

struct all {
	uint64_t seed;
	struct switches may;
	_Atomic int sockets, processes;
	int pids[PROCESSES_MAX];
	struct listener listeners[4];
	int listener_count;
	int file, file_bytes, pair[2];
	struct sock socket[SOCKETS_MAX];
	/* What a child that executes this program anew has open. */
	char given[PROCESSES_MAX][SOCKETS_MAX];
};

/* Of no socket, and makes some; of one, in a direction; of one that may send so. */
enum need { NO_SOCKET = 1, SENDS = 2, RECEIVES = 4, COPIES = 8, REFERENCES = 16, SPLICES = 32, CONNECTS = 64 };

struct call {
	const char *name;
	void (*make)(int socket);
	int weight, needs;
};

/* What the program of a protocol brings: its calls, the last of which has no name; its first sockets; how it makes
 * others; what a child forgets of its parent's; what is to be done when a phase has ended. */
extern const struct call calls[];
void begin_sockets(void);
void call_connect(int unused);
void begin_child(void);
void end_phase(void);

extern struct all *all;
/* The memory behind `all`; which of its processes this is; sockets that it has open. */
extern int memory, place;
extern char open_here[SOCKETS_MAX];
/* What is sent and what is received into; `hole` has BUFFER_BYTES, and behind them memory that faults. */
extern char *data, *room, *hole;

/* dice.c */
void throw_from(uint64_t seed);
uint64_t throw(void);
/* Below n; 0 of 0. */
unsigned below(unsigned n);
bool one_in(unsigned n);
unsigned some_bytes(void);
/* Cuts `bytes` from `memory` into some parts; returns how many. */
int cut(struct iovec parts[PARTS_MAX], char *from, unsigned bytes);

/* account.c */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail(const char *what);
void add(int i, enum moved what, int64_t n);
void mark(int i, enum mark mark);
/* What a call that sends (receives) so returned; returns it. */
ssize_t sent(int i, enum moved how, ssize_t n);
ssize_t sent_by_reference(int i, ssize_t n);
ssize_t received(int i, enum moved how, ssize_t n);
ssize_t peeked(int i, ssize_t n);
void forget(void);
void write_truth(const char *file);

/* Calls of any protocol; each is of socket i. */
void call_dup(int i);
void call_pass(int i);
void call_unix(int i);
void call_sleep(int i);
void call_fork(int i);

/* sockets.c */
int set_option(int fd, int level, int name, int value);
bool has_zerocopy(int fd);
uint16_t port_of(const union address *a);
void read_ports(int i);
void limit_waits(int fd, bool reads);
/* Takes a socket among those that calls are made of; -1 if there are too many, and then it is closed. */
int enter(int fd, int family);
void call_error_queue(int i);

/* calls.c */
uint64_t calls_named(const char *list);
void print_calls(void);
bool is_open(int i);
int open_count(void);
bool is_thread(void);
void make_calls(int n, bool may_fork);
void make_phase(int n);
#endif
