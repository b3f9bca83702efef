// SPDX-License-Identifier: GPL-2.0
/* Ends a run that does not move, or whose queue takes too long to drain. */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "userspace/common/clock.h"
#include "userspace/workload/run.h"
#include "userspace/workload/stream/fail.h"
#include "userspace/workload/stream/process.h"
#include "userspace/workload/stream/stop.h"

/* The threads count on while this reads: a number that is a moment old shows progress as well. */
static uint64_t unacknowledged_bytes(const struct connection *connection)
{
	int bytes = 0;

	ioctl(connection->fd, SIOCOUTQ, &bytes);
	return bytes;
}

static uint64_t progress_of(const struct run *run, uint64_t *queued_bytes)
{
	uint64_t progress = 0;

	*queued_bytes = 0;
	for (unsigned int i = 0; i < run->n_workers; i++) {
		const struct worker *worker = run->worker[i];
		const struct totals *totals = &worker->connection->totals;

		/* One step for a client that came, one for each that went. */
		progress += 1 + atomic_load(&worker->done) + totals->accepted_bytes +
			    totals->received_bytes + totals->completions;
		if (run->settings->role == ROLE_SERVER && !atomic_load(&worker->done))
			*queued_bytes += unacknowledged_bytes(worker->connection);
	}
	return progress - *queued_bytes;
}

void watch_begin(struct watch *watch, const struct run *run)
{
	uint64_t queued_bytes, now_ns = monotonic_ns(), duration_ns = run->settings->duration_ns;

	*watch = (struct watch){ .moved_ns = now_ns, .progress = progress_of(run, &queued_bytes),
				 .deadline_ns = duration_ns ? now_ns + duration_ns : 0 };
}

static void give_up(struct run *run, const char *what, uint64_t ns, uint64_t queued_bytes)
{
	complain("no progress: %s %llu s; %llu bytes are not acknowledged", what,
		 (unsigned long long)(ns / NS_PER_S), (unsigned long long)queued_bytes);
	run->failed = true;
	stop_give_up();
}

void watch_step(struct watch *watch, struct run *run)
{
	uint64_t now_ns = monotonic_ns(), patience_ns = run->settings->patience_ns, queued_bytes;
	uint64_t progress = progress_of(run, &queued_bytes);
	bool over = watch->deadline_ns && now_ns > watch->deadline_ns;

	if (!patience_ns || stop_requested())
		return;
	if (progress != watch->progress)
		watch->moved_ns = now_ns;
	watch->progress = progress;
	/* Before the end of the run --patience holds, whatever comes after it. */
	if (over && patience_ns > WATCH_DRAIN_NS)
		patience_ns = WATCH_DRAIN_NS;
	if (now_ns - watch->moved_ns > patience_ns)
		give_up(run, "nothing moved for", now_ns - watch->moved_ns, queued_bytes);
	else if (over && now_ns - watch->deadline_ns > WATCH_DRAIN_MOST_NS)
		give_up(run, "the path is too slow to drain what was sent in",
			now_ns - watch->deadline_ns, queued_bytes);
}

static bool join_process(struct worker *worker)
{
	struct connection *connection = worker->connection;
	bool well;

	if (!process_join(worker->process, &well))
		return false;
	/* This process closed its descriptor long ago. */
	connection->fd = -1;
	if (!well) {
		complain("the process of the connection from %s died", connection->local);
		connection->outcome = OUTCOME_FAILED;
	}
	atomic_store(&worker->done, true);
	return true;
}

/* Waits for a thread or process, but not long. Returns true when it has ended. */
static bool join_a_while(struct worker *worker)
{
	struct timespec until;

	if (worker->process)
		return join_process(worker);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec++;
	return pthread_clockjoin_np(worker->thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}

void watch_join_all(struct watch *watch, struct run *run)
{
	for (unsigned int i = 0; i < run->n_workers; i++) {
		while (!run->worker[i]->joined && !join_a_while(run->worker[i]))
			watch_step(watch, run);
		run->worker[i]->joined = true;
	}
}
