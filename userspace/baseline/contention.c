// SPDX-License-Identifier: GPL-2.0
/* Family contention: 1 to 20 processes, each reading blocks of a file of its own from the disk. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/baseline/clock.h"
#include "userspace/baseline/families.h"
#include "userspace/baseline/files.h"

enum { READERS = 20, QUICK_STEP = 5 };

struct readers {
	int fd[READERS];
	uint64_t *spent;	/* shared: ticks of each */
};

static int prepare_contention(struct work *w, const struct row *row)
{
	struct readers *r = calloc(1, sizeof(*r));
	uint64_t blocks = w->settings->quick ? row->quick_calls : row->calls;
	int err = 0;

	w->own = r;
	blocks = blocks > row->counted_calls ? blocks : row->counted_calls;
	for (int i = 0; i < READERS && !err; i++)
		err = file_make(w, blocks * BLOCK_BYTES, &r->fd[i]);
	r->spent = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return err;
}

static void undo_contention(struct work *w)
{
	struct readers *r = w->own;

	for (int i = 0; i < READERS; i++)
		if (r->fd[i] > 0)
			close(r->fd[i]);
	munmap(r->spent, PAGE_BYTES);
	free(r);
}

static void read_blocks(int fd, uint64_t blocks, int gate, uint64_t *spent)
{
	struct pollfd open = { .fd = gate };
	char block[BLOCK_BYTES];
	uint64_t from;

	poll(&open, 1, -1);
	from = work_tick();
	for (uint64_t i = 0; i < blocks; i++)
		if (pread(fd, block, sizeof(block), i * BLOCK_BYTES) != sizeof(block))
			_exit(1);
	*spent = work_tick() - from;
	_exit(0);
}

/* All wait at a pipe; closing its end lets them go together. */
static int time_contention(struct work *w, const struct row *row, uint64_t calls)
{
	struct readers *r = w->own;
	int readers = w->x ? (int)w->x : READERS, gate[2], err = 0, status;
	pid_t pids[READERS] = {};
	double sum = 0, disk;

	if (pipe(gate))
		return work_fail(w, errno, "cannot make a pipe");
	for (int i = 0; i < readers && !err; i++) {
		err = file_forget(w, r->fd[i]);
		posix_fadvise(r->fd[i], 0, 0, POSIX_FADV_RANDOM);
	}
	disk = file_disk_bytes();
	for (int i = 0; i < readers && !err; i++) {
		pids[i] = work_fork();
		if (!pids[i]) {
			close(gate[1]);
			read_blocks(r->fd[i], calls, gate[0], &r->spent[i]);
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
	for (int i = 0; i < readers; i++)
		sum += clock_ns(r->spent[i]) / calls;
	w->value = sum / readers / 1000;
	w->witness[WITNESS_DISK_BYTES] = file_disk_bytes() - disk;
	return err;
}

static uint64_t counts(const struct work *w, int i)
{
	uint64_t n = w->settings->quick ? (uint64_t)(i ? i * QUICK_STEP : 1) : (uint64_t)i + 1;

	return n <= READERS ? n : 0;
}

static const struct row rows[] = {
	{ .name = "contention", .title = "file read in order, a block, by 20 processes",
	  .unit = "us", .calls = 1000, .quick_calls = 200, .counted_calls = 211, .point = counts,
	  .x_unit = "processes", .takes_turns = true,
	  .invariants = {
		{ EXACTLY, EVENT_preads, READERS, 0, 0, "each process reads each of its blocks" },
		{ EXACTLY, EVENT_block_reads, READERS, 0, 0, "each block is one read of the disk" },
		{ EXACTLY, WITNESS(WITNESS_DISK_BYTES), READERS * BLOCK_BYTES, 0, 0,
		  "the disk gave as many bytes as were read" },
		{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" },
	  } },
};

const struct family family_contention = {
	.name = "contention", .rows = rows, .count = 1, .prepare = prepare_contention,
	.time = time_contention, .undo = undo_contention,
};
