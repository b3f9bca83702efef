// SPDX-License-Identifier: GPL-2.0
/*
 * Family create: a new process and a new thread, until the creator goes on; and a process until it
 * has ended and its creator has waited for it, as lmbench times it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/families/families.h"

enum { PROCESS, THREAD, ENDED };

static void *end_at_once(void *nothing)
{
	return nothing;
}

static int create_one(struct work *w, int which, uint64_t *ticks)
{
	uint64_t from = region_tick();

	if (which != THREAD) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		*ticks = region_tick() - from;
		if (pid < 0)
			return work_fail(w, errno, "cannot fork");
		waitpid(pid, NULL, 0);
		if (which == ENDED)
			*ticks = region_tick() - from;
	} else {
		pthread_t thread;
		int err = pthread_create(&thread, NULL, end_at_once, NULL);

		*ticks = region_tick() - from;
		if (err)
			return work_fail(w, err, "cannot create a thread");
		pthread_join(thread, NULL);
	}
	return 0;
}

static int time_create(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t *ticks = calloc(calls, sizeof(*ticks));
	int err = ticks ? 0 : work_fail(w, ENOMEM, "no memory");

	region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++)
		err = create_one(w, row->which, &ticks[i]);
	region_end(w);
	if (!err)
		region_singles(w, row, ticks, calls);
	free(ticks);
	return err;
}

#define EACH_FORK                                                                           \
	{ EXACTLY, EVENT_forks, 1, 0, 0, "one task created a call" },                       \
	{ EXACTLY, EVENT_threads, 0, 0, 0, "each with memory of its own" }

static const struct row rows[] = {
	{ .name = "process", .title = "process creation (fork)", .unit = "us", .which = PROCESS,
	  .calls = 100000, .quick_calls = 500, .counted_calls = 1009,
	  .invariants = { EACH_FORK } },
	{ .name = "thread", .title = "thread creation (pthread_create)", .unit = "us",
	  .which = THREAD, .calls = 100000, .quick_calls = 2000, .counted_calls = 1009,
	  .invariants = {
		{ EXACTLY, EVENT_forks, 1, 0, 0, "one task created a call" },
		{ EXACTLY, EVENT_threads, 1, 0, 0, "each shares its creator's memory" },
	  } },
	{ .name = "process-ended", .title = "process creation, end and wait", .unit = "us",
	  .which = ENDED, .extra = true, .calls = 20000, .quick_calls = 500,
	  .counted_calls = 1009, .invariants = { EACH_FORK } },
};

const struct family family_create = {
	.name = "create", .rows = rows, .count = 3, .time = time_create,
};
