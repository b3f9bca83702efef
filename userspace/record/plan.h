/* SPDX-License-Identifier: GPL-2.0 */
/* What a run may request: names and limits, on the command line and between two hosts. */
#ifndef COPYSCOPE_PLAN_H
#define COPYSCOPE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PLAN_BYTES_MIN = 8,
	PLAN_BYTES_MAX = 64 << 20,
	PLAN_THREADS_MAX = 1024,
	PLAN_LISTENERS_MAX = 16,
	PLAN_SECONDS_MAX = 86400,
};
#define PLAN_MESSAGES_MAX (1ull << 40)

/* As requested on the command line. */
struct workload_plan {
	char variant[32];	/* if some alternate, the first of them */
	char alternate[320];	/* VARIANT[:RECEIVER] of each, with commas; empty: none do */
	int block_ms;		/* then: about how long a turn is */
	uint64_t answer_every;	/* then: messages after which the receiver answers; 0: only after a turn */
	uint64_t piece_bytes;	/* of each datagram, or of each read() with its send(); 0: as many as one takes */
	char pattern[16];
	char receiver[16];
	uint64_t bytes;
	int threads;
	uint64_t messages;	/* 0: run for .seconds */
	double seconds;
	int readers;		/* threads that share each socket; 0: one, message by message */
	int senders;		/* threads that send on each socket; 0: one */
	int listeners;		/* sockets that share the server's port; 0: one */
	char cpus[2][256];	/* of the sender's and the receiver's threads, as listed; empty: any */
	unsigned int behaviours;	/* a set, as userspace/tables/behaviours.h has them */
	bool unchecked;		/* memory is filled once, and nobody reads what arrives */
	uint64_t memlock_bytes;	/* RLIMIT_MEMLOCK of both ends; 0: as it was */
	uint64_t optmem_bytes;	/* net.core.optmem_max of both ends; 0: as it was */
	bool modelled;		/* a plugin of the emulator counts what both ends execute */
	bool count_fin;		/* a fault for tests: the ends take a FIN for a byte that TCP returned */
};

/* Each ends with NULL. */
extern const char *const plan_patterns[];
extern const char *const plan_receivers[];

/* One of those that alternate: how it is called, who sends and who receives. */
struct way_names {
	char name[48], variant[32], receiver[16];
};

/* Way @number, from 0; without an alternation there is one. False: there are not so many. */
bool plan_way(const struct workload_plan *plan, int number, struct way_names *way);

/* True if its sends request references to pages, whether or not the kernel takes them. */
bool plan_references(const struct workload_plan *plan);

/* True if its connections have kernel TLS. */
bool plan_has_tls(const struct workload_plan *plan);

/* True if an end of it uses io_uring. */
bool plan_has_rings(const struct workload_plan *plan);

/* What the sender locks by registering memory with io_uring. */
uint64_t plan_registered_bytes(const struct workload_plan *plan, uint64_t page_bytes);

/* True if io_uring notifies of these sends, by completions of its own. */
bool plan_notified_by_ring(const struct workload_plan *plan);

/* True if its messages travel as datagrams, which may be lost. */
bool plan_sends_datagrams(const struct workload_plan *plan);

/* Why its messages cannot be cut into the pieces that it asks for, or NULL. */
const char *plan_piece_fault(const struct workload_plan *plan);

/* True if a connection of a run that ends well may end inside a message. */
bool plan_ends_inside(const struct workload_plan *plan);

/* Its behaviours, with commas between their names. */
struct behaviour_names {
	char text[160];
};
struct behaviour_names plan_behaviours(const struct workload_plan *plan);

/* Reads such names; 0, or -1 when one is unknown. */
int plan_behaviours_read(struct workload_plan *plan, const char *names);

/* True if it overwrites pages that the kernel may still read, so that wrong bytes must arrive. */
bool plan_overwrites(const struct workload_plan *plan);

/* Why nobody checks content, under a plan by which nobody does. */
const char *plan_unchecked_why(const struct workload_plan *plan);

/* What is wrong with a plan that another host asks for, in a few words; NULL if nothing is. */
const char *plan_fault(const struct workload_plan *plan);

#endif
