/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs of a watch: loaded, attached, told whom to count, and the books that they keep, read.
 *
 * Order: load, attach, seed, then walks in any order. Books come as the programs keep them.
 */
#ifndef COPYSCOPE_WATCH_PROBES_H
#define COPYSCOPE_WATCH_PROBES_H

#include "bpf/include/watch.h"
#include "userspace/record/record.h"

struct watch_probes;

enum { WATCH_PROBE_PORTS = 32, WATCH_PROBE_NAMESPACES = 512 };

struct watch_probes_config {
	enum watch_filter filter;
	enum backend backend;
	enum watch_fault fault;
	bool calls;			/* WATCH_HOOKS_CALLS will be attached */
	uint64_t cgroup;		/* 0: processes are not counted by their cgroup */
	int cgroup_level;
	char comm[WATCH_TASK_COMM];	/* empty: processes are not counted by their name */
	uint16_t ports[WATCH_PROBE_PORTS];
	int port_count;
	uint32_t netns[WATCH_PROBE_NAMESPACES];	/* of the sockets that are booked from their birth */
	int netns_fds[WATCH_PROBE_NAMESPACES];	/* the caller's */
	int netns_count;
};

/* Sets of hooks: what every watch needs, what only zero copy needs, the witness. */
enum watch_hooks { WATCH_HOOKS_ALWAYS, WATCH_HOOKS_ZEROCOPY, WATCH_HOOKS_CALLS };

/* 0, or -errno with one line in @why. */
int watch_probes_load(struct watch_probes **out, const struct watch_probes_config *config,
		      char why[WHY_BYTES]);

/* Does nothing for hooks that are attached already. */
int watch_probes_attach(struct watch_probes *p, enum watch_hooks which, char why[WHY_BYTES]);

/* What became of each hook, and what its program missed until now. How many there are. */
int watch_probes_list(const struct watch_probes *p, struct probe probes[PROBES_MAX]);

/* True if a hook of that metric is attached and none of it was refused. */
bool watch_probes_have(const struct watch_probes *p, const char *metric);

/* The backend, and in @why the reason. */
enum backend watch_probes_backend(const struct watch_probes *p, char why[WHY_BYTES]);

/* Every process that this one can see; the caller's to free. Their number, or -errno. */
int watch_probes_processes(struct watch_probes *p, struct watch_row **rows);

/* Makes a process part of the subject. 0, -EEXIST if it is one already, or -errno. */
int watch_probes_add(struct watch_probes *p, const struct watch_row *row);

/* Takes it out again. False if the programs did so before. */
bool watch_probes_remove(struct watch_probes *p, uint32_t tgid);

/* The processes of the subject that have not ended, or that nobody has collected yet; the caller's to free.
 * Their number, or -errno. */
int watch_probes_members(const struct watch_probes *p, struct watch_member **members);

/* Walks over all sockets and notes their opening balances, then over descriptors. 0 or -errno. */
int watch_probes_open(struct watch_probes *p);

/* Calls @each with the book of every socket of the subject that is there now. 0 or -errno. */
int watch_probes_read(struct watch_probes *p, void (*each)(void *arg, const struct watch_book *book),
		      void *arg);

/* Who takes what ended: the book of a socket, a process of the subject. */
struct watch_ends {
	void (*death)(void *arg, const struct watch_book *book);
	void (*gone)(void *arg, const struct watch_member *member);
	void *arg;
};

/* What ended since it was called last. How many, or -errno. */
int watch_probes_deaths(struct watch_probes *p, const struct watch_ends *each);

struct watch_gauges watch_probes_gauges(const struct watch_probes *p);

/* How many times no program saw a socket begin, change or end, as far as the last reading shows: sums may be
 * short. Sockets of other processes count, too. */
uint64_t watch_probes_unseen(const struct watch_probes *p);

/* Memory of tables and rings. */
uint64_t watch_probes_memory(const struct watch_probes *p);

/* Detaches and unloads; NULL is accepted. */
void watch_probes_free(struct watch_probes *p);

#endif
