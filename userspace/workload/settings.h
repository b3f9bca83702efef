/* SPDX-License-Identifier: GPL-2.0 */
/* What the command line asks for. */
#ifndef WORKLOAD_SETTINGS_H
#define WORKLOAD_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "userspace/common/system/cpu_list.h"
#include "userspace/tables/behaviours.h"
#include "userspace/tables/blocks.h"
#include "userspace/workload/receiver.h"
#include "userspace/workload/stream/endpoint.h"
#include "userspace/workload/variant.h"

#define BYTES_MIN 8
#define BYTES_MAX (64ull << 20)
#define THREADS_MAX 1024
#define LISTENERS_MAX 16

enum role { ROLE_SERVER, ROLE_CLIENT };
enum pattern { PATTERN_STREAM, PATTERN_RR };

struct settings {
	enum role role;
	enum pattern pattern;
	const struct variant *variant;         /* server only: the first way */
	const struct variant *ways[WAYS_MOST]; /* server only: all, of which there is one if none alternate */
	unsigned int n_ways;
	bool alternates;                       /* server: ways take turns */
	bool in_blocks;                        /* client: the server's do */
	uint64_t block_ns;                     /* about as long is a block of the first way */
	uint64_t answer_every;                 /* messages of a block: the sender waits then; 0: for its end alone */
	const struct receive_method *receiver; /* client only */
	const struct receive_method *receivers[WAYS_MOST]; /* of each of the server's ways; none: .receiver for all */
	unsigned int n_receivers;
	size_t bytes;
	uint64_t messages;       /* over all connections; 0: not given */
	uint64_t duration_ns;    /* 0: not given */
	unsigned int threads;    /* client: connections; server: --clients, 0: not given */
	unsigned int max_clients;
	unsigned int readers;    /* client: threads that share each socket; 0: not given */
	unsigned int senders;    /* server: threads that share each socket; 0: not given */
	unsigned int listeners;  /* server: sockets that share the port; 1: as usual */
	struct cpu_list cpus;    /* where its threads stay, in turn */
	struct sockaddr_storage address; /* with the port */
	struct sockaddr_storage from;    /* server: no client of another address; AF_UNSPEC: any */
	unsigned int behaviours; /* a set of BEHAVIOUR_BIT()s */
	bool check_content;      /* fill each message anew, and check what arrives */
	bool json;
	bool count_fin;          /* a fault for tests */
	bool guest_marker;               /* tell the emulator's plugin whose threads these are */
	bool datagrams;          /* they carry the messages, beside a connection that tells of begin and end */
	struct datagram_manner datagram_manner; /* then */
	size_t piece_bytes;      /* server: of each datagram, or each read() with its send(); 0: as many as one takes */
	uint64_t patience_ns;    /* how long nothing may move; 0: for ever */
	int ready_fd, go_fd;     /* -1: not given */
};

/* Reads the whole command line; ends the program with EXIT_BAD_USAGE if it makes no sense. */
void settings_parse(struct settings *settings, int argc, char **argv);

/* This end moves messages by io_uring. */
bool settings_use_ring(const struct settings *settings);

/* A receiver of this end with this trait, or NULL. */
const struct table_row *settings_receive_with(const struct settings *settings, unsigned int trait);

/* Connection @index of @count gets this many of @messages, so that the sum is exact. */
static inline uint64_t settings_share(uint64_t messages, unsigned int index, unsigned int count)
{
	return messages / count + (index < messages % count);
}

#endif
