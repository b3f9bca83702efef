// SPDX-License-Identifier: GPL-2.0
/*
 * Family read: blocks of 4 KiB from a file that the page cache does not hold: in order and at random
 * without readahead, as published, and in order with it. Also pieces of 64 KiB from a file that the
 * page cache does hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/files.h"
#include "studies/baseline/families/families.h"

enum { SEQUENTIAL, RANDOM, AHEAD, AGAIN, SUMMED };
enum { SMALLEST_MIB = 2, LARGEST_MIB = 64, QUICK_LARGEST_MIB = 8, PIECE_BYTES = 65536 };

struct file {
	int fd;
};

static uint64_t largest_blocks(const struct work *w, const struct row *row)
{
	uint64_t mib = w->protocol->quick ? QUICK_LARGEST_MIB : LARGEST_MIB;
	uint64_t blocks = w->protocol->quick ? row->quick_calls : row->calls;

	blocks = blocks > row->counted_calls ? blocks : row->counted_calls;
	return blocks > (mib << 20) / BLOCK_BYTES ? blocks : (mib << 20) / BLOCK_BYTES;
}

static int prepare_read(struct work *w, const struct row *row)
{
	struct file *f = calloc(1, sizeof(*f));

	w->own = f;
	if (row->which >= AGAIN)
		return file_make_cached(w, row->calls * PIECE_BYTES, &f->fd);
	return file_make(w, largest_blocks(w, row) * BLOCK_BYTES, &f->fd);
}

static void undo_read(struct work *w)
{
	struct file *f = w->own;

	close(f->fd);
	free(f);
}

static int time_read(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t blocks = w->x ? w->x / BLOCK_BYTES : calls, step;
	int fd = ((struct file *)w->own)->fd, err = file_forget(w, fd);
	double disk;

	if (err)
		return err;
	task_pin(0);
	calls = calls < blocks ? calls : blocks;
	step = row->which == RANDOM ? file_stride(blocks) : 1;
	posix_fadvise(fd, 0, 0, row->which == AHEAD ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM);
	w->witness[WITNESS_PAGES_BEFORE] = file_cached_pages(fd);
	disk = file_disk_bytes();
	err = file_read_region(w, fd, calls, blocks, step);
	w->witness[WITNESS_DISK_BYTES] = file_disk_bytes() - disk;
	w->witness[WITNESS_PAGES_AFTER] = file_cached_pages(fd);
	region_per_call(w, row, calls);
	return err;
}

/* Every int, as lmbench's bw_file_rd does; four sums, so that no addition waits for the last. */
static void sum_up(const unsigned int *at)
{
	unsigned int a = 0, b = 0, c = 0, d = 0;

	for (int i = 0; i < PIECE_BYTES / (int)sizeof(*at); i += 4) {
		a += at[i];
		b += at[i + 1];
		c += at[i + 2];
		d += at[i + 3];
		asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
}

/* Written when it was made, and so in the page cache. */
static int time_again(struct work *w, const struct row *row, uint64_t calls)
{
	int fd = ((struct file *)w->own)->fd, err = 0;
	static unsigned int piece[PIECE_BYTES / sizeof(int)];

	task_pin(0);
	w->witness[WITNESS_PAGES_BEFORE] = file_cached_pages(fd);
	region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++) {
		if (pread(fd, piece, sizeof(piece), i * PIECE_BYTES) != sizeof(piece))
			err = work_fail(w, errno, "cannot read");
		if (row->which == SUMMED)
			sum_up(piece);
	}
	region_end(w);
	w->value = calls * PIECE_BYTES / clock_ns(w->spent_ticks);
	return err;
}

static int time_row(struct work *w, const struct row *row, uint64_t calls)
{
	return row->which >= AGAIN ? time_again(w, row, calls) : time_read(w, row, calls);
}

static uint64_t sizes(const struct work *w, int i)
{
	uint64_t mib = (uint64_t)SMALLEST_MIB << i;

	return mib <= (w->protocol->quick ? QUICK_LARGEST_MIB : LARGEST_MIB) ? mib << 20 : 0;
}

#define EACH_BLOCK_READ                                                                     \
	{ EXACTLY, WITNESS(WITNESS_PAGES_BEFORE), 0, 0, 0, "the page cache is empty before" }, \
	{ EXACTLY, EVENT_preads, 1, 0, 0, "one read call a block" },                        \
	{ EXACTLY, EVENT_block_reads, 1, 0, 0, "each block is one read of the disk" },      \
	{ EXACTLY, EVENT_cached, 1, 0, 0, "each adds its page to the page cache" },         \
	{ EXACTLY, WITNESS(WITNESS_PAGES_AFTER), 1, 0, 0, "the page cache holds them after" }, \
	{ EXACTLY, WITNESS(WITNESS_DISK_BYTES), BLOCK_BYTES, 0, 0,                          \
	  "the disk gave as many bytes as were read" }

#define FROM_PAGE_CACHE                                                                     \
	{ EXACTLY, WITNESS(WITNESS_PAGES_BEFORE), PIECE_BYTES / BLOCK_BYTES, 0, 0,          \
	  "the page cache holds the file" },                                                \
	{ EXACTLY, EVENT_preads, 1, 0, 0, "one read call for each 64 KiB" },                \
	{ EXACTLY, EVENT_block_reads, 0, 0, 0, "no disk is read" },                         \
	{ EXACTLY, EVENT_cached, 0, 0, 0, "nothing is added to the page cache" }

static const struct row rows[] = {
	{ .name = "read-sequential", .title = "file read in order, a block, no readahead",
	  .unit = "us", .which = SEQUENTIAL, .calls = 16384, .quick_calls = 1024,
	  .counted_calls = 1009, .point = sizes, .x_unit = "bytes of file",
	  .invariants = { EACH_BLOCK_READ } },
	{ .name = "read-random", .title = "file read at random, a block", .unit = "us",
	  .which = RANDOM, .calls = 16384, .quick_calls = 1024, .counted_calls = 1009,
	  .point = sizes, .x_unit = "bytes of file", .invariants = { EACH_BLOCK_READ } },
	{ .name = "read-ahead", .title = "file read in order, a block, with readahead",
	  .unit = "us", .which = AHEAD, .extra = true, .warm_ups = 1, .calls = 16384,
	  .quick_calls = 1024, .counted_calls = 1024, .point = sizes, .x_unit = "bytes of file",
	  .invariants = {
		{ EXACTLY, WITNESS(WITNESS_PAGES_BEFORE), 0, 0, 0,
		  "the page cache is empty before" },
		{ EXACTLY, EVENT_preads, 1, 0, 0, "one read call a block" },
		{ AT_LEAST, EVENT_block_reads, 0, 1, 0, "the disk is read" },
		{ AT_MOST, EVENT_block_reads, 0.25, 0, 0, "in reads of several blocks" },
		{ AT_LEAST, WITNESS(WITNESS_DISK_BYTES), BLOCK_BYTES, 0, 0,
		  "the disk gave all that was read" },
	  } },
	{ .name = "read-again", .title = "file read in order from the page cache", .unit = "GB/s",
	  .which = AGAIN, .extra = true, .calls = 1024, .quick_calls = 1024, .counted_calls = 1024,
	  .invariants = { FROM_PAGE_CACHE } },
	{ .name = "read-again-summed", .title = "the same, each int of it added up",
	  .unit = "GB/s", .which = SUMMED, .extra = true, .calls = 1024, .quick_calls = 1024,
	  .counted_calls = 1024, .invariants = { FROM_PAGE_CACHE } },
};

const struct family family_read = {
	.name = "read", .rows = rows, .count = 5, .prepare = prepare_read, .time = time_row,
	.undo = undo_read,
};
