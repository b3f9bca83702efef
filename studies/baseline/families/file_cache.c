// SPDX-License-Identifier: GPL-2.0
/*
 * Family cache: how large a file the page cache holds. A memory control group limits the cache, so the
 * knee is known beforehand and the rest of the machine keeps its caches. A file is read once and read
 * again backwards, as published. Below the knee the second reading takes no block from the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "studies/baseline/bench/region.h"
#include "studies/baseline/bench/work.h"
#include "studies/baseline/families/families.h"
#include "studies/baseline/lab/cgroup.h"
#include "studies/baseline/lab/files.h"

enum { STEPS = 32, MIB = 1 << 20, REREAD_BYTES = 65536 };

struct cache {
	struct cgroup group;
	int fd;
	uint64_t limit;
};

static int prepare_cache(struct work *w, const struct row *row)
{
	struct cache *c = w->own = calloc(1, sizeof(*c));

	c->fd = -1;
	c->limit = w->protocol->cache_bytes;
	snprintf(w->how, sizeof(w->how), "in a control group of %llu MiB",
		 (unsigned long long)c->limit / MIB);
	return cgroup_enter(w, &c->group, c->limit);
}

static void undo_cache(struct work *w)
{
	struct cache *c = w->own;

	if (c->fd >= 0)
		close(c->fd);
	cgroup_leave(&c->group);
	free(c);
}

/* A file of this size in place of the last. */
static int resize(struct work *w, struct cache *c, uint64_t bytes)
{
	if (c->fd >= 0)
		close(c->fd);
	return file_make(w, bytes, &c->fd);
}

static int read_once(struct work *w, int fd, uint64_t bytes)
{
	static char chunk[MIB];

	for (uint64_t at = 0; at < bytes; at += sizeof(chunk))
		if (pread(fd, chunk, sizeof(chunk), at) <= 0)
			return work_fail(w, errno, "cannot read");
	return 0;
}

/* Fills the cache by one reading and times another one, backwards, in pieces of @piece bytes. */
static int read_again(struct work *w, struct cache *c, uint64_t bytes, uint64_t piece)
{
	static char chunk[REREAD_BYTES];
	double disk;
	int err = file_forget(w, c->fd);

	if (!err)
		err = read_once(w, c->fd, bytes);
	if (err)
		return err;
	w->witness[WITNESS_PAGES_BEFORE] = file_cached_pages(c->fd);
	disk = file_disk_bytes();
	region_begin(w);
	for (uint64_t at = bytes; at >= piece && !err; at -= piece)
		if (pread(c->fd, chunk, piece, at - piece) != (ssize_t)piece)
			err = work_fail(w, errno, "cannot read");
	region_end(w);
	w->witness[WITNESS_DISK_BYTES] = file_disk_bytes() - disk;
	return err;
}

/* One point of the curve: microseconds for 64 KiB, by file size. */
static int time_size(struct work *w, struct cache *c, const struct row *row)
{
	int err = resize(w, c, w->x);

	if (!err)
		err = read_again(w, c, w->x, REREAD_BYTES);
	region_per_call(w, row, w->x / REREAD_BYTES);
	w->value /= 1000;
	return err;
}

/* The largest of sizes a 32nd of the limit apart that is read again without the disk. */
static int find_knee(struct work *w, struct cache *c)
{
	uint64_t step = c->limit / STEPS, held = 0, lost = STEPS + STEPS / 2;
	int err = 0;

	while (lost - held > 1 && !err) {
		uint64_t middle = (held + lost) / 2;

		err = resize(w, c, middle * step);
		if (!err)
			err = read_again(w, c, middle * step, REREAD_BYTES);
		if (w->witness[WITNESS_DISK_BYTES] > 0)
			lost = middle;
		else
			held = middle;
	}
	w->value = (double)held * step / MIB;
	return err;
}

static int time_cache(struct work *w, const struct row *row, uint64_t calls)
{
	struct cache *c = w->own;
	int err;

	if (w->x)
		return time_size(w, c, row);
	if (!w->counting)
		return find_knee(w, c);
	err = resize(w, c, calls * PAGE_BYTES);
	return err ? err : read_again(w, c, calls * PAGE_BYTES, PAGE_BYTES);
}

static uint64_t sizes(const struct work *w, int i)
{
	static const int eighths[] = { 2, 4, 6, 7, 8, 9, 10, 12, 16, 24, 0 };
	uint64_t bytes = w->protocol->cache_bytes / 8 * eighths[i];

	return bytes / REREAD_BYTES * REREAD_BYTES;
}

static const struct row rows[] = {
	{ .name = "file-cache", .title = "file cache size: largest file read again without the disk",
	  .unit = "MiB", .calls = 1, .quick_calls = 1, .counted_calls = 1009, .point = sizes,
	  .x_unit = "bytes of file", .y_unit = "us for 64 KiB", .most_runs = 6,
	  .invariants = {
		{ EXACTLY, WITNESS(WITNESS_PAGES_BEFORE), 1, 0, 0, "the page cache holds the file" },
		{ EXACTLY, EVENT_preads, 1, 0, 0, "one read call a page" },
		{ EXACTLY, EVENT_block_reads, 0, 0, 0, "no read of the disk below the knee" },
		{ EXACTLY, EVENT_cached, 0, 0, 0, "nothing is added to the page cache" },
		{ EXACTLY, WITNESS(WITNESS_DISK_BYTES), 0, 0, 0, "the disk gives nothing" },
	  } },
};

const struct family family_cache = {
	.name = "cache", .root = true, .rows = rows, .count = 1, .prepare = prepare_cache,
	.time = time_cache, .undo = undo_cache,
};
