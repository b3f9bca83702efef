/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs in the kernel: loaded, attached, told whom to count, and the books that they keep, read.
 *
 * Order: load, attach, seed, then walks in any order. Books come as the programs keep them.
 */
#ifndef COPYSCOPE_ENGINE_H
#define COPYSCOPE_ENGINE_H

#include <sys/types.h>

#include "bpf/include/watch.h"
#include "userspace/engine/hooks.h"
#include "userspace/record/cpu.h"
#include "userspace/record/record.h"
#include "userspace/record/user_stacks.h"

struct programs;
struct targets;
struct engine;

enum { ENGINE_NAMESPACES = 512 };

struct engine_config {
	enum watch_filter filter;
	enum backend backend;
	enum fault_inject fault_inject;
	unsigned int sets;		/* of enum hook_set, those that will be attached or listed */
	bool calls;			/* HOOKS_CALLS will be attached */
	bool cpu;			/* the clock will be sampled */
	bool looks;			/* engine_stacks_new() is asked for programs that stacks or samples are of */
	bool sizes;			/* calls are told by their size: HOOKS_CALLS and HOOKS_SIZES will be attached */
	bool stacks;			/* what calls move is put to stacks of the programs that make them */
	uint32_t stack_every;		/* bytes: one of so many is sampled; 0: each call has its stack */
	int sockets_most;		/* how many there may be; 0: as many as the machine has, and more */
	struct subject_names named;	/* of each kind that it has something must fit */
	struct subject_names left_out;	/* and nothing of this */
	bool childless;			/* what a process of the subject forks is none */
	bool others_join;		/* who fits these becomes a process of the subject, whoever forked it */
	bool cgroup_decides;		/* and .named has cgroups alone, and nothing is left out */
	bool members_are_left_out;	/* without WATCH_OF_TASKS: .named has the processes whose sockets do not count */
	uint32_t netns[ENGINE_NAMESPACES];	/* of the sockets that are booked from their birth */
	int netns_fds[ENGINE_NAMESPACES];	/* the caller's */
	int netns_count;
	/* Of the set HOOKS_DETAIL. */
	const char *detach;		/* a metric whose hooks are left off on purpose, or NULL */
	bool hardware_dma;		/* a device may read pages itself */
	bool relinks;			/* both may be others in a later window: see engine_relink() */
	bool references;		/* the subject may reference pages */
	uint32_t homes[SUBJECT_PROCESSES];	/* network namespaces of the subject */
	int home_count;
	const char *usdt_path;		/* the program with the USDT probe; NULL: there is none */
	pid_t usdt_pid;
	/* Is called when the hooks are chosen and nothing is loaded; NULL: nobody needs it. */
	void (*before_load)(void *arg, struct programs *programs, const struct targets *targets);
	void *before_load_arg;
};

/* 0, or -errno with one line in @why. */
int engine_load(struct engine **out, const struct engine_config *config,
		      char why[WHY_BYTES]);

/* Of the configured sets those of @sets (enum hook_set), in the order of the table. Does nothing for hooks that are
 * attached already. */
int engine_attach(struct engine *p, unsigned int sets, char why[WHY_BYTES]);

/* What became of each hook, and what its program missed until now. How many there are. */
int engine_list(const struct engine *p, struct probe probes[PROBES_MAX]);

/* True if a hook of that metric is attached and none of it was refused. */
bool engine_have(const struct engine *p, const char *metric);

/* The backend, and in @why the reason. */
enum backend engine_backend(const struct engine *p, char why[WHY_BYTES]);

/* When all is attached and nothing counted: keeps what engine_renew() goes back to. 0 or -errno. */
int engine_keep(struct engine *e);

/*
 * Leaves off and attaches again single hooks of programs that were loaded with config.relinks: before engine_renew(),
 * in the process that called engine_keep(). 0; or -errno, then all are to be loaded anew.
 */
int engine_relink(struct engine *e, const char *detach, bool hardware_dma);

/* Whose sockets are counted next by programs that stay attached. */
struct engine_subject {
	const uint32_t *homes;	/* network namespaces, as in the configuration */
	int home_count;
	bool references;
};

/*
 * Makes the programs, which stay attached, as new: what they counted is forgotten, and the next window opens at 0. In
 * the process that called engine_keep(), or in a child of it. 0; -EBUSY if sockets of the last window, or packets of
 * theirs, are still there, which would be counted in the next; or -errno.
 */
int engine_renew(struct engine *e, const struct engine_subject *subject);

/* Every process that this one can see; the caller's to free. Their number, or -errno. */
int engine_processes(struct engine *p, struct watch_row **rows);

/* Makes a process part of the subject. 0, -EEXIST if it is one already, or -errno. */
int engine_add(struct engine *p, const struct watch_row *row);

/* Takes it out again. False if the programs did so before. */
bool engine_remove(struct engine *p, uint32_t tgid);

/* Walks over descriptors: what connects to a socket that listens belongs to who holds that. 0 or -errno. */
int engine_find_listeners(struct engine *p);

/* Walks over all sockets and notes their opening balances, then over descriptors. 0 or -errno. */
int engine_open(struct engine *p);

/* Who takes what ended: the book of a socket, a process of the subject; NULL: nobody asks for processes. */
struct engine_ends {
	void (*death)(void *arg, const struct watch_book *book);
	void (*gone)(void *arg, const struct watch_member *member);
	void *arg;
};

/* Waits for so long, or until a socket needs hooks that are not attached, the last process of the subject ended, what ended
 * fills its ring, a process has a new stack, or @other (-1: none) can be read. 0, or -errno if a signal came. */
int engine_wait(const struct engine *p, int timeout_ms, int other);

/* What ended since it was called last. How many, or -errno. */
int engine_deaths(struct engine *p, const struct engine_ends *each);

/* What ended since it was called last goes to @each; *@out has the books of all sockets that are open, each once, in the
 * order of cookies, until it is called again. @glance: who holds sockets is looked up if one began or was accepted since, and
 * now and then. Their number, or -errno. */
int engine_books(struct engine *p, const struct engine_ends *each, bool glance, const struct watch_book **out);

/* The processes of the subject that had not ended, or that nobody had collected, when the books were read with a @gone;
 * valid as long as those. One that was collected since may have gone there, too. Their number. */
int engine_members(const struct engine *p, const struct watch_member **members);

/* Between load and attachment, for programs that keep stacks. */
void engine_prepare_stacks(const struct engine *p);

/* The stacks that copied for sockets of the subject, of a *@ledger that has none. 0 or -errno. */
int engine_stacks(const struct engine *p, struct ledger *ledger);

/* Samples what runs on each processor, @hz times a second, by the clock that @clock then names. 0, or -errno with
 * one line in @why. config.cpu was set before load. */
int engine_sample_cpu(struct engine *p, unsigned int hz, const char **clock, char why[WHY_BYTES]);

/* What samples found since the last call, but for spans, which are of threads from their first sample on; what *@samples
 * owns is the caller's to free. 0 or -errno. */
int engine_samples(struct engine *p, struct cpu_samples *samples);

/* True if a table is so full that they are to be taken now. */
bool engine_samples_due(const struct engine *p);

/* From now on what calls move is put to the stacks of their programs, or is not any more, and no sample of the clock
 * counts either. config.stacks was set before load. */
void engine_stacks_gate(struct engine *p, bool open);

/* Calls @each with the process of every stack that is new. */
void engine_stacks_new(struct engine *p, void (*each)(void *arg, const struct stack_task *task), void *arg);

/* What calls moved by stack; *@raw, as the programs keep them in that order, and what *@stacks owns are the caller's
 * to free. 0 or -errno. */
int engine_user_stacks(const struct engine *p, struct user_stack **raw, struct user_stacks *stacks);

/* What kernel TLS had done with the bytes of a socket when its book was handed over. 0, or -ENOENT; of one that
 * died it is told once. */
int engine_tls(const struct engine *p, const struct watch_book *book, struct tls_book *tls);

/* What the hooks of details have counted of a socket; of one that died that is all. 0, or -ENOENT if they count nothing,
 * its place was given to another socket, or an update was lost of nobody knows which. */
int engine_detail(const struct engine *p, const struct watch_book *book, struct books *detail);

/* From here on calls have a place in histograms: it is found out whose each socket is. 0 or -errno. */
int engine_begin_sizes(struct engine *p);

/* The histograms of the processes that called, and how long their pages were held; the first of each, whatever is in
 * it, is of those that found no room. The caller's to free. Their number, or -errno. */
int engine_sizes(const struct engine *p, struct call_sizes **sizes, struct call_holds **holds);

/* True if a hook tells when a program reads its error queue. */
bool engine_tells_readings(const struct engine *p);

/* True if a socket began after the last reading of books looked for them. */
bool engine_began_since(const struct engine *p);

struct watch_gauges engine_gauges(const struct engine *p);

/* How many times no program saw a socket begin, change or end, as far as the last reading shows: sums may be
 * short. Sockets of other processes count, too. */
uint64_t engine_unseen(const struct engine *p);

/* False where sockets that closed, and that no descriptor holds, are in engine_unseen(), too. */
bool engine_walks_storages(const struct engine *p);

/* Memory of tables and rings. */
uint64_t engine_memory(const struct engine *p);

/* Detaches and unloads; NULL is accepted. */
void engine_free(struct engine *p);

#endif
