/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of this room share; engine.h is for everyone else. */
#ifndef COPYSCOPE_ENGINE_INSIDE_H
#define COPYSCOPE_ENGINE_INSIDE_H

#include <bpf/libbpf.h>

#include "bpf/include/casts.h"
#include "bpf/include/sites.h"
#include "bpf/include/watch.h"
#include "programs.skel.h"
#include "userspace/engine/engine.h"
#include "userspace/engine/netns_reader.h"
#include "userspace/engine/tp_hits.h"

/* What the kernel counts of a program. */
struct program_runs {
	uint64_t runs, run_time_ns, missed_runs;
};

/* An array that grows, of items of @size bytes; @failure: -ENOMEM if one is missing. The owner frees @items. */
struct collected {
	void *items;
	size_t size;
	int count, room, failure;
};

struct engine {
	struct programs *skel;
	struct engine_config config;
	enum backend backend;
	char backend_why[WHY_BYTES];
	struct hook_choice hooks;
	struct hook_choice loaded;	/* what hooks are chosen from: with config.relinks more than those */
	struct bpf_link *links[PROBES_MAX];	/* in the order of hooks */
	struct bpf_link *sockets, *closed, *descriptors, *tasks, *maps;	/* what iterators are made of */
	struct collected books;		/* as they were read last: their memory is used again */
	struct watch_member *members;	/* as they were read with the books */
	uint32_t member_count;
	struct netns_reader entered[ENGINE_NAMESPACES];	/* none for our own namespace */
	struct ring_buffer *ring;
	struct ring_buffer *news;	/* of stacks; NULL: none are kept; and who takes it */
	void (*stack_new)(void *arg, const struct stack_task *task);
	void *stack_new_arg;
	struct tp_hits *hits;	/* NULL: the kernel refuses them */
	int hit_count, hit_rows[TP_HITS_MAX];	/* which hooks have a counter: see hits.h */
	int64_t ahead[TP_HITS_MAX];	/* in the order of counters, as the next one */
	bool counts[TP_HITS_MAX];	/* perf does so, beside an attached hook */
	struct engine_ends each;
	uint32_t pass;
	uint64_t books_looked_up;	/* that had begun when descriptors were walked last */
	int glances;			/* since then */
	bool guessed;			/* a book that was read last has no owner but who listens */
	uint64_t unseen_ends;	/* by the last census */
	void *as_attached;		/* owned; what the programs' variables held then, for engine_renew() */
	struct program_runs before[PROBES_MAX];	/* this window */
	struct bpf_link **clocks;	/* of each processor, for samples, then of switches; NULL: none are taken */
	int clock_count;
};

/* Appends a copy of the item. */
void collect(struct collected *c, const void *item);

/* A socket of the subject, and where the tables of counts have it. */
struct counted_socket {
	uint64_t cookie;
	uint32_t place;
};

/* Fills @ledger, whatever was in it, with what was counted of these sockets, but for stacks. 0 or -errno; what it
 * owns is the caller's to free either way. */
int engine_counts(const struct engine *e, const struct counted_socket *counted, int count, struct ledger *ledger);

/* Functions of the kernel by addresses in them. */
struct symbols;

/* Finds the functions that hold @count addresses, 0 among them ignored. NULL if there is no memory.
 * Sorts @addresses. */
struct symbols *symbols_load(const struct engine *e, uint64_t *addresses, int count);
void symbols_free(struct symbols *symbols);

/*
 * Writes the functions that hold the return addresses @frames (0 ends them), innermost first, joined by " < ". BPF
 * programs and their trampolines are left out unless @programs. Empty if the kernel hides addresses
 * (kernel.kptr_restrict).
 */
void symbols_join(const struct symbols *symbols, const uint64_t *frames, int count, bool programs, char *text,
		  size_t size);

/* How many keys a map has; @key: room for one. */
int count_keys(int fd, void *key);

/* The ring of new stacks. 0 or -errno. */
int stacks_prepare(struct engine *e);

/* Detaches the samples of the clock. */
void clocks_free(struct engine *e);

/* Links of the iterators, and the ring. 0, or -errno with a line in @why. */
int iterators_prepare(struct engine *p, char why[WHY_BYTES]);
void iterators_free(struct engine *p);

/* Tells the programs the network namespaces of the subject, and the limit of option memory that holds there. */
void homes_tell(struct engine *p);

/* Detaches, side by side, each hook whose program no row of hooks wants any more. */
void links_drop_unwanted(struct engine *p);

/* What programs do from now on is of this window. */
void runs_begin(struct engine *p);
bool runs_read(const struct bpf_program *program, struct program_runs *runs);

/* Starts the counters of the hooks that are attached. Packets that pass in between shift nothing. */
void hits_begin(struct engine *p);

#endif
