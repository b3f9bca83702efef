// SPDX-License-Identifier: GPL-2.0
/*
 * Family switch: a byte to and fro by two pipes between two tasks of one CPU. Processes and
 * threads do exactly the same, so that what differs is the address space alone.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/proof.h"
#include "studies/baseline/families/families.h"

enum { PROCESS, THREAD };

struct pipes {
	int there[2], back[2];
	enum injected fault;
};

/* Ends when the other end of its pipe is closed, or by a byte that is not 0. */
static void *echo(void *argument)
{
	struct pipes *p = argument;
	char byte;

	fault_inject_peer(p->fault);
	while (read(p->there[0], &byte, 1) == 1 && !byte)
		if (write(p->back[1], &byte, 1) != 1)
			break;
	return NULL;
}

static int round_trips(struct work *w, struct pipes *p, uint64_t calls)
{
	char byte = 0;
	int err = 0;

	/* The first finds the peer still starting. */
	for (int i = 0; i < 100 && !err; i++)
		err = write(p->there[1], &byte, 1) != 1 || read(p->back[0], &byte, 1) != 1;
	region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++)
		err = write(p->there[1], &byte, 1) != 1 || read(p->back[0], &byte, 1) != 1;
	region_end(w);
	byte = 1;
	if (write(p->there[1], &byte, 1) != 1)
		err = 1;
	return err ? work_fail(w, errno, "a pipe broke") : 0;
}

static int time_switch(struct work *w, const struct row *row, uint64_t calls)
{
	struct pipes p = { .fault = w->protocol->fault };
	pthread_t thread;
	pid_t pid = 0;
	int err = 0;

	task_pin(0);
	if (pipe(p.there) || pipe(p.back))
		return work_fail(w, errno, "cannot make pipes");
	if (row->which == THREAD) {
		err = pthread_create(&thread, NULL, echo, &p);
	} else {
		pid = task_fork();
		err = pid < 0 ? errno : 0;
		if (!pid) {
			echo(&p);
			_exit(0);
		}
	}
	if (err)
		return work_fail(w, err, "cannot make the peer");
	err = round_trips(w, &p, calls);
	/* A round trip is two switches. */
	region_per_call(w, row, 2 * calls);
	if (row->which == THREAD)
		pthread_join(thread, NULL);
	else
		task_reap(pid);
	for (int i = 0; i < 2; i++) {
		close(p.there[i]);
		close(p.back[i]);
	}
	return err;
}

#define INVARIANTS {                                                                        \
	{ AT_LEAST, EVENT_switches, 2, -1, 0.02, "two switches a round trip" },             \
	{ AT_MOST, EVENT_switches, 2, 4, 0.05, "no more than two switches a round trip" },  \
	{ AT_MOST, EVENT_wakes_away, 0.05, 0, 0, "both are on one CPU" },                   \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" },                               \
	{ EXACTLY, EVENT_reads, 2, 0, 0.0005, "two reads a round trip" },                   \
	{ EXACTLY, EVENT_writes, 2, 0, 0.0005, "two writes a round trip" },                 \
	{ EXACTLY, EVENT_futexes, 0, 0, 0, "no futex" },                                    \
	{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" } }

static const struct row rows[] = {
	{ .name = "switch-process", .title = "context switch between processes (pipe)",
	  .unit = "us", .which = PROCESS, .calls = 100000, .quick_calls = 10000,
	  .takes_turns = true, .counted_calls = 10007, .invariants = INVARIANTS },
	{ .name = "switch-thread", .title = "context switch between threads (pipe)",
	  .unit = "us", .which = THREAD, .calls = 100000, .quick_calls = 10000,
	  .takes_turns = true, .counted_calls = 10007, .invariants = INVARIANTS },
};

const struct family family_switch = {
	.name = "switch", .rows = rows, .count = 2, .time = time_switch,
};
