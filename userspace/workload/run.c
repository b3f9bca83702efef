// SPDX-License-Identifier: GPL-2.0
/* Keep the connections of a run and the threads that serve them. */
#include "userspace/workload/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/common/guest_marker.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/process.h"
#include "userspace/workload/stream/stop.h"

struct worker *run_add(struct run *run, struct connection *connection)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (worker && run->n_workers == run->capacity) {
		unsigned int capacity = run->capacity ? 2 * run->capacity : 16;
		void *bigger = reallocarray(run->worker, capacity, sizeof(*run->worker));

		if (bigger) {
			run->worker = bigger;
			run->capacity = capacity;
		}
	}
	if (!worker || run->n_workers == run->capacity) {
		complain("out of memory for a connection");
		free(worker);
		connection_destroy(connection);
		run->failed = true;
		return NULL;
	}
	worker->settings = run->settings;
	worker->connection = connection;
	worker->joined = true; /* until it has a thread */
	worker->number = run->n_workers;
	run->worker[run->n_workers++] = worker;
	return worker;
}

void worker_announce(const struct settings *settings)
{
	marker_store(settings->role == ROLE_SERVER ? MARKER_SENDER : MARKER_RECEIVER);
}

void worker_begin(const struct worker *worker, unsigned int which, unsigned int count)
{
	int err = cpu_list_hold(&worker->settings->cpus, worker->number * count + which);

	if (err)
		die("cannot keep a thread on its processor: %s", strerror(-err));
	worker_announce(worker->settings);
}

int run_start(struct run *run, struct worker *worker, void *(*serve)(void *))
{
	int err = pthread_create(&worker->thread, NULL, serve, worker);

	if (err) {
		/* The reason that stops one thread from starting stops the others, too. */
		if (!run->failed)
			complain("cannot start a thread: %s: raise pids.max and ulimit -u, or make "
				 "fewer connections", strerror(err));
		connection_close(worker->connection);
		worker->connection->outcome = OUTCOME_FAILED;
		run->failed = true;
		return -err;
	}
	worker->joined = false;
	return 0;
}

/* A child has its own descriptor of every connection that was not yet handed over. */
struct child_args {
	struct run *run;
	unsigned int index;
	void *(*serve)(void *);
};

static void *child_serve(void *data)
{
	const struct child_args *mine = data;
	struct run *run = mine->run;

	for (unsigned int i = mine->index + 1; i < run->n_workers; i++)
		close(run->worker[i]->connection->fd);
	return mine->serve(run->worker[mine->index]);
}

static int run_share(struct run *run)
{
	int err = stop_share();

	if (!err)
		err = complaints_share();
	for (unsigned int i = 0; i < run->n_workers && !err; i++) {
		struct worker *worker = run->worker[i];
		struct connection *shared = connection_share(worker->connection);

		if (!shared)
			return -ENOMEM;
		worker->connection = shared;
	}
	return err;
}

void run_fork(struct run *run, void *(*serve)(void *))
{
	int err = run_share(run);

	for (unsigned int i = 0; i < run->n_workers; i++) {
		struct worker *worker = run->worker[i];
		struct child_args args = { run, i, serve };
		/* The child writes to the connection from now on. */
		int fd = worker->connection->fd;
		pid_t pid = err ? err : process_start(child_serve, &args);

		if (pid < 0) {
			if (!run->failed)
				complain("cannot start a process: %s: raise pids.max and ulimit -u, or make "
					 "fewer connections", strerror(-pid));
			worker->connection->outcome = OUTCOME_FAILED;
			run->failed = true;
		} else {
			worker->process = pid;
			worker->joined = false;
		}
		close(fd);
	}
}

void *worker_finish(struct worker *worker, enum outcome outcome)
{
	worker->connection->outcome = outcome;
	worker->connection->totals.peer_vanished = outcome == OUTCOME_VANISHED;
	connection_note_sequence(worker->connection);
	connection_close(worker->connection);
	atomic_store(&worker->done, true);
	return NULL;
}

unsigned int run_join_finished(struct run *run)
{
	unsigned int running = 0;

	for (unsigned int i = 0; i < run->n_workers; i++) {
		struct worker *worker = run->worker[i];

		if (!worker->joined && atomic_load(&worker->done)) {
			pthread_join(worker->thread, NULL);
			worker->joined = true;
		}
		running += !worker->joined;
	}
	return running;
}

void run_free(struct run *run)
{
	for (unsigned int i = 0; i < run->n_workers; i++) {
		connection_destroy(run->worker[i]->connection);
		free(run->worker[i]);
	}
	free(run->worker);
}

int run_exit_code(const struct run *run)
{
	/* By hand, clients may come and go as they like. */
	bool all_must_stay = run->settings->threads != 0;
	int code = run->failed ? EXIT_RUN_FAILED : EXIT_FINE;

	for (unsigned int i = 0; i < run->n_workers; i++) {
		const struct connection *connection = run->worker[i]->connection;
		uint64_t errors = connection->totals.completion_errors;

		if (errors) {
			complain("connection %u: %llu completion ids missing, doubled or unknown",
				 i, (unsigned long long)errors);
			code = EXIT_RUN_FAILED;
		}
		if (connection->outcome == OUTCOME_FAILED ||
		    (connection->outcome == OUTCOME_VANISHED && all_must_stay))
			code = EXIT_RUN_FAILED;
	}
	return code;
}

/* Let a parent attach its counters before anything is counted. */

void parent_tell(const struct settings *settings, unsigned int port)
{
	char line[32];
	int bytes = snprintf(line, sizeof(line), "ready %u\n", port), fd = settings->ready_fd;

	if (fd >= 0 && write(fd, line, bytes) != bytes)
		die("cannot write to --ready-fd %d: %s", fd, strerror(errno));
}

static int parent_await(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char byte;

	for (;;) {
		/* The parent sent the byte before the signal, so it has released us. */
		bool stop = stop_requested();
		ssize_t got;

		if (poll(&wait, 1, stop ? 0 : STOP_TICK_MS) <= 0) {
			if (stop)
				break;
			continue;
		}
		got = read(fd, &byte, 1);
		if (got == 1)
			return 0;
		if (got == 0)
			die("--go-fd %d was closed before the byte came", fd);
		if (errno != EINTR && errno != EAGAIN)
			die("cannot read --go-fd %d: %s", fd, strerror(errno));
	}
	complain("a signal ended it before it was released");
	return -1;
}

int parent_wait(const struct settings *settings, unsigned int port)
{
	parent_tell(settings, port);
	return settings->go_fd >= 0 ? parent_await(settings->go_fd) : 0;
}
