/* SPDX-License-Identifier: GPL-2.0 */
/* A run: the connections made so far, and the two ends that make them. */
#ifndef WORKLOAD_RUN_H
#define WORKLOAD_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "userspace/workload/settings.h"

struct team;
struct alternation;

/* A connection and the thread or the process that owns it until @done. */
struct worker {
	const struct settings *settings;
	struct connection *connection;
	struct team *team;      /* server: one of .prepared, or NULL */
	struct alternation *alternation; /* server: in step with other connections; else NULL */
	pthread_t thread;
	pid_t process;          /* in place of a thread; else 0 */
	unsigned int number;    /* among the workers, from 0 */
	unsigned int listener;  /* server: which took the connection, from 0 */
	bool joined;
	atomic_bool done;
};

struct run {
	const struct settings *settings;
	struct worker **worker; /* in accept or connect order; each allocated on its own */
	unsigned int n_workers, capacity;
	struct team **prepared; /* server: for the --clients to come; else NULL */
	struct alternation *alternation; /* server, if ways alternate; else NULL */
	uint64_t refused_clients;
	bool failed;            /* something other than a vanished peer went wrong */
};

/* Takes over @connection. Returns NULL after a complaint. */
struct worker *run_add(struct run *run, struct connection *connection);

/* Start @serve(worker) in a thread of its own; it must end with worker_finish(). */
int run_start(struct run *run, struct worker *worker, void *(*serve)(void *));

/* Start @serve(worker) in a process each. Their connections become theirs: this process closes its
 * own descriptors. */
void run_fork(struct run *run, void *(*serve)(void *));

/* Called by the thread, last of all: close the socket, leave the totals. */
void *worker_finish(struct worker *worker, enum outcome outcome);

/* Called by thread @which of the worker's @count, first of all: stay on a processor, if one is asked for, and tell the
 * plugin of an emulator which end this is. */
void worker_begin(const struct worker *worker, unsigned int which, unsigned int count);

/* Tells the plugin of an emulator, where there is one, which end this thread works for. */
void worker_announce(const struct settings *settings);

/* Join the threads that have finished; returns how many still run. */
unsigned int run_join_finished(struct run *run);
void run_free(struct run *run);

/* The exit code for the outcomes of all connections. */
int run_exit_code(const struct run *run);

/* Each runs until everything has ended, and fills @run. */
void server_run(struct run *run);
void client_run(struct run *run);

/* Prints the totals on stdout, as JSON or for people. Returns 0 or -EIO. */
int report_print(const struct run *run);

/* Writes a line "ready PORT" to --ready-fd. If the parent at the other end is gone, the program dies. */
void parent_tell(const struct settings *settings, unsigned int port);

/*
 * Lets the parent attach its counters while there is one thread and no connection: tells it, then waits for a byte
 * from --go-fd. Returns 0, or -1 when a signal came first, after a complaint.
 */
int parent_wait(const struct settings *settings, unsigned int port);

/* Without --patience nothing here ever ends a run. */
struct watch {
	uint64_t progress;    /* grows whenever something moves */
	uint64_t moved_ns;    /* when it last did */
	uint64_t deadline_ns; /* when the run was to end; 0: not known */
};

void watch_begin(struct watch *watch, const struct run *run);

/*
 * Call it now and then. If nothing has moved for as long as --patience allows (WATCH_DRAIN_NS once
 * the run's time is over), or if the queues have not drained WATCH_DRAIN_MOST_NS after that time,
 * it complains, marks the run as failed and asks every loop to end.
 */
#define WATCH_DRAIN_NS (10 * NS_PER_S)
#define WATCH_DRAIN_MOST_NS (60 * NS_PER_S)
void watch_step(struct watch *watch, struct run *run);

/* Joins all threads, with a step now and then. */
void watch_join_all(struct watch *watch, struct run *run);

#endif
