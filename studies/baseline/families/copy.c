// SPDX-License-Identifier: GPL-2.0
/*
 * Family copy: what the kernel takes to copy so many bytes from or to user memory, without a socket or a
 * file. process_vm_writev() and process_vm_readv() of this process's own memory pin the pages of the
 * remote side, whatever the local side's length, and then copy what both sides have
 * (mm/process_vm_access.c), piece by piece of the local side. Two calls with the same remote side differ
 * in what is copied and in nothing else: their difference is the row.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/stats.h"
#include "studies/baseline/families/families.h"

/* The kernel pins at most 16 pages at a time, and gets no memory for up to 8 pieces. */
enum { LARGEST = 65536, MAPPED = 2 * LARGEST, PIECES = 8, LITTLE = 64, BLOCKS = 50 };

enum { FROM_USER, TO_USER };
#define WHICH(bytes, way) ((bytes) << 1 | (way))
#define BYTES(row) ((row)->which >> 1)
#define IS_TO_USER(row) ((row)->which & 1)

/*
 * A call copies eight pieces, the other one piece: the difference is seven copies, each with the step to
 * the next piece. Of the largest size only one piece fits: it is held against a piece of 64 bytes.
 */
#define MOST_PIECES(bytes) ((bytes) < LARGEST ? PIECES : 1)
#define LEAST_BYTES(bytes) ((bytes) < LARGEST ? (bytes) : LITTLE)
#define COPIES_MORE(bytes) ((bytes) < LARGEST ? PIECES - 1 : 1)
#define BOTH_BYTES(bytes) ((bytes) * MOST_PIECES(bytes) + LEAST_BYTES(bytes))

struct sides {
	char *local, *remote;
	pid_t self;
	struct iovec most[PIECES], least, other;
};

static int prepare_copy(struct work *w, const struct row *row)
{
	static struct sides s;

	s.self = getpid();
	s.local = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		       -1, 0);
	if (s.local == MAP_FAILED)
		return work_fail(w, errno, "no memory");
	s.remote = s.local + LARGEST;
	/* Each piece is the same memory, so that all of it stays near. */
	for (int i = 0; i < PIECES; i++)
		s.most[i] = (struct iovec){ s.local, BYTES(row) };
	s.least = (struct iovec){ s.local, LEAST_BYTES(BYTES(row)) };
	s.other = (struct iovec){ s.remote, BYTES(row) * MOST_PIECES(BYTES(row)) };
	w->own = &s;
	return 0;
}

static void undo_copy(struct work *w)
{
	struct sides *s = w->own;

	if (s)
		munmap(s->local, MAPPED);
}

static ssize_t copy(const struct sides *s, const struct row *row, bool most)
{
	const struct iovec *mine = most ? s->most : &s->least;
	int pieces = most ? MOST_PIECES(BYTES(row)) : 1;

	return IS_TO_USER(row) ? process_vm_readv(s->self, mine, pieces, &s->other, 1, 0)
			       : process_vm_writev(s->self, mine, pieces, &s->other, 1, 0);
}

/* Ticks of @calls calls; -1 and errno if one copied less than it should. */
static double time_block(const struct sides *s, const struct row *row, uint64_t calls, bool most)
{
	ssize_t bytes = most ? s->other.iov_len : s->least.iov_len;
	uint64_t from = clock_begin();

	for (uint64_t i = 0; i < calls; i++)
		if (copy(s, row, most) != bytes)
			return -1;
	return clock_end() - from;
}

/* What arrived is told by what the other side holds afterwards. */
static bool all_arrived(const struct sides *s, const struct row *row)
{
	size_t bytes = BYTES(row), all = IS_TO_USER(row) ? bytes : s->other.iov_len;

	for (size_t i = 0; i < all; i++)
		if ((IS_TO_USER(row) ? s->local : s->remote)[i] != 1)
			return false;
	return true;
}

static int count_copies(struct work *w, const struct row *row, uint64_t calls)
{
	struct sides *s = w->own;
	ssize_t arrived = 0;

	memset(s->local, !IS_TO_USER(row), LARGEST);
	memset(s->remote, IS_TO_USER(row), LARGEST);
	region_begin(w);
	for (uint64_t i = 0; i < calls; i++) {
		ssize_t most = copy(s, row, true), least = copy(s, row, false);

		if (most < 0 || least < 0)
			return work_fail(w, errno, "the kernel refuses to copy");
		arrived += most + least;
	}
	region_end(w);
	w->witness[WITNESS_BYTES] = all_arrived(s, row) ? arrived : 0;
	return 0;
}

static int time_copy(struct work *w, const struct row *row, uint64_t calls)
{
	double more[BLOCKS];

	task_pin(0);
	if (w->counting)
		return count_copies(w, row, calls);
	/* In turn, so that whatever slows the core slows both. */
	for (int i = 0; i < BLOCKS; i++) {
		double least = time_block(w->own, row, calls / BLOCKS, false);
		double most = time_block(w->own, row, calls / BLOCKS, true);

		if (least < 0 || most < 0)
			return work_fail(w, errno, "the kernel refuses to copy, or cuts a copy short");
		more[i] = most - least;
	}
	w->value = stats_median(more, BLOCKS) / clock_ticks_per_ns() /
		   (calls / BLOCKS) / COPIES_MORE(BYTES(row));
	return 0;
}

#define ROW(id, text, bytes, way, often)                                                    \
	{ .name = id, .title = text, .unit = "ns", .which = WHICH(bytes, way), .extra = true, \
	  .calls = 10 * (often), .quick_calls = often, .counted_calls = 1009, .invariants = { \
		{ EXACTLY, EVENT_syscalls, 2, 0, 0, "two calls: more copies and fewer" },       \
		{ EXACTLY, WITNESS(WITNESS_BYTES), BOTH_BYTES(bytes), 0, 0, "every byte arrived" }, \
		{ EXACTLY, EVENT_voluntary, 0, 0, 0, "the process never waits" },             \
		{ EXACTLY, EVENT_faults, 0, 0, 0, "no page fault is taken" } } }

static const struct row rows[] = {
	ROW("copy-64", "64 bytes copied by the kernel from user memory", 64, FROM_USER, 20000),
	ROW("copy-4096", "4096 bytes copied by the kernel from user memory", 4096, FROM_USER, 10000),
	ROW("copy-65536", "65536 bytes copied by the kernel from user memory", 65536, FROM_USER, 2000),
	ROW("copy-back-64", "64 bytes copied by the kernel to user memory", 64, TO_USER, 20000),
	ROW("copy-back-4096", "4096 bytes copied by the kernel to user memory", 4096, TO_USER, 10000),
	ROW("copy-back-65536", "65536 bytes copied by the kernel to user memory", 65536, TO_USER, 2000),
};

const struct family family_copy = {
	.name = "copy", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .prepare = prepare_copy,
	.time = time_copy, .undo = undo_copy,
};
