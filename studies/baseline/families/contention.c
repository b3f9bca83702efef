// SPDX-License-Identifier: GPL-2.0
/*
 * Family contention: 1 to 40 processes, each reading blocks of a file of its own from the disk; the same
 * on one CPU, and how long a block waits for that CPU then. The number of a row is that of 20 processes,
 * the most that the report prints.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/files.h"
#include "studies/baseline/families/families.h"

enum { ANY_CPU, ONE_CPU, CPU_WAIT };
enum { READERS = 20, MOST_READERS = 40 };

/* Of one reader: ticks of the clock; nanoseconds on a CPU, and waiting for one (schedstat). */
struct account {
	uint64_t ticks;
	double ran_ns, waited_ns;
};

struct readers {
	uint64_t file_bytes;
	int fd[MOST_READERS];		/* 0 until so many have read */
	struct account *accounts;	/* shared */
};

static int prepare_contention(struct work *w, const struct row *row)
{
	struct readers *r = w->own = calloc(1, sizeof(*r));
	uint64_t blocks = w->protocol->quick ? row->quick_calls : row->calls;

	blocks = blocks > row->counted_calls ? blocks : row->counted_calls;
	r->file_bytes = blocks * BLOCK_BYTES;
	r->accounts = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return 0;
}

static void undo_contention(struct work *w)
{
	struct readers *r = w->own;

	for (int i = 0; i < MOST_READERS; i++)
		if (r->fd[i] > 0)
			close(r->fd[i]);
	munmap(r->accounts, PAGE_BYTES);
	free(r);
}

static void add_schedstat(struct account *a, double sign)
{
	FILE *file = fopen("/proc/self/schedstat", "re");
	double ran, waited;

	if (!file || fscanf(file, "%lf %lf", &ran, &waited) != 2)
		ran = waited = NAN;
	if (file)
		fclose(file);
	a->ran_ns += sign * ran;
	a->waited_ns += sign * waited;
}

static void read_blocks(int fd, uint64_t blocks, int gate, struct account *a)
{
	struct pollfd open = { .fd = gate };
	char block[BLOCK_BYTES];
	uint64_t from;

	*a = (struct account){};
	poll(&open, 1, -1);
	add_schedstat(a, -1);
	from = region_tick();
	for (uint64_t i = 0; i < blocks; i++)
		if (pread(fd, block, sizeof(block), i * BLOCK_BYTES) != sizeof(block))
			_exit(1);
	a->ticks = region_tick() - from;
	add_schedstat(a, 1);
	_exit(0);
}

/* The mean time of a block in us, or what of it was waiting for a CPU. Says in w->how which share of it
 * the readers ran and waited. */
static double sum_up(struct work *w, int which, const struct account *accounts, int readers,
		     uint64_t blocks)
{
	double all_ns = 0, ran_ns = 0, waited_ns = 0;

	for (int i = 0; i < readers; i++) {
		all_ns += clock_ns(accounts[i].ticks);
		ran_ns += accounts[i].ran_ns;
		waited_ns += accounts[i].waited_ns;
	}
	if (!w->x && !isnan(ran_ns))
		snprintf(w->how, sizeof(w->how), "of their time, %d readers ran %.0f %%, waited %.0f %% "
			 "for a CPU and %.0f %% for the disk", readers, 100 * ran_ns / all_ns,
			 100 * waited_ns / all_ns, 100 * (1 - (ran_ns + waited_ns) / all_ns));
	return (which == CPU_WAIT ? waited_ns : all_ns) / readers / blocks / 1000;
}

/* The reader's file, with nothing of it in the page cache. */
static int ready_file(struct work *w, struct readers *r, int i)
{
	int err = r->fd[i] > 0 ? 0 : file_make(w, r->file_bytes, &r->fd[i]);

	if (!err)
		err = file_forget(w, r->fd[i]);
	if (!err)
		posix_fadvise(r->fd[i], 0, 0, POSIX_FADV_RANDOM);
	return err;
}

/* All readers wait at a pipe. Closing its end starts them together. */
static int time_contention(struct work *w, const struct row *row, uint64_t calls)
{
	struct readers *r = w->own;
	int readers = w->x ? (int)w->x : READERS, gate[2], err = 0, status;
	pid_t pids[MOST_READERS] = {};
	double disk;

	if (pipe(gate))
		return work_fail(w, errno, "cannot make a pipe");
	if (row->which != ANY_CPU)
		task_pin(0);
	for (int i = 0; i < readers && !err; i++)
		err = ready_file(w, r, i);
	disk = file_disk_bytes();
	for (int i = 0; i < readers && !err; i++) {
		pids[i] = task_fork();
		if (!pids[i]) {
			close(gate[1]);
			read_blocks(r->fd[i], calls, gate[0], &r->accounts[i]);
		}
	}
	usleep(20000);
	region_begin(w);
	close(gate[1]);
	for (int i = 0; i < readers && !err; i++)
		if (waitpid(pids[i], &status, 0) < 0 || status)
			err = work_fail(w, 0, "a reader failed");
	region_end(w);
	close(gate[0]);
	w->value = sum_up(w, row->which, r->accounts, readers, calls);
	if (isnan(w->value))
		err = work_fail(w, 0, "the kernel tells no waiting times (/proc/self/schedstat)");
	w->witness[WITNESS_DISK_BYTES] = file_disk_bytes() - disk;
	return err;
}

/* 1 to 20 as the report's table has them, then up to the 40 of its text. */
static uint64_t counts(const struct work *w, int i)
{
	static const uint64_t quick[] = { 1, 5, 10, 15, 20, 30, MOST_READERS, 0 },
			      beyond[] = { 25, 30, 35, MOST_READERS, 0 };

	if (w->protocol->quick)
		return quick[i];
	return i < READERS ? (uint64_t)i + 1 : beyond[i - READERS];
}

static uint64_t few_counts(const struct work *w, int i)
{
	static const uint64_t readers[] = { 1, 5, 10, READERS, MOST_READERS, 0 };

	return readers[i];
}

#define EACH_BLOCK                                                                          \
	{ EXACTLY, EVENT_preads, READERS, 0, 0, "each process reads each of its blocks" },  \
	{ EXACTLY, EVENT_block_reads, READERS, 0, 0, "each block is one read of the disk" }, \
	{ EXACTLY, WITNESS(WITNESS_DISK_BYTES), READERS * BLOCK_BYTES, 0, 0,                \
	  "the disk gave as many bytes as were read" },                                     \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" }

#define ROW(id, text, number, points, is_extra, ...)                                        \
	{ .name = id, .title = text, .unit = "us", .which = number, .calls = 1000,          \
	  .quick_calls = 200, .counted_calls = 211, .point = points, .x_unit = "processes", \
	  .takes_turns = true, .extra = is_extra, .invariants = { EACH_BLOCK, __VA_ARGS__ } }

/* The CPU may find another reader's block there: then a reader does not wait for its own. */
#define A_SWITCH_A_BLOCK                                                                    \
	{ AT_LEAST, EVENT_switches, READERS, 0, 0.5, "hardly a block is read without a switch" }

static const struct row rows[] = {
	ROW("contention", "file read in order, a block, by 20 processes", ANY_CPU, counts, false),
	ROW("contention-one-cpu", "the same, all processes on one CPU", ONE_CPU, few_counts, true,
	    A_SWITCH_A_BLOCK),
	ROW("contention-cpu-wait", "of a block's time on one CPU, waiting for the CPU", CPU_WAIT,
	    few_counts, true, A_SWITCH_A_BLOCK),
};

const struct family family_contention = {
	.name = "contention", .rows = rows, .count = sizeof(rows) / sizeof(*rows),
	.prepare = prepare_contention, .time = time_contention, .undo = undo_contention,
};
