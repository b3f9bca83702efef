// SPDX-License-Identifier: GPL-2.0
/*
 * Family fault: the first touch of a page. Of anonymous memory; of a hole in a file, as the
 * published program did, which reads no disk; of a page that lies on the disk alone; and of a page
 * in the page cache, which the kernel maps along with its neighbours, as lmbench times it. A fault
 * of a hole is counted as major on some file systems (filemap_fault() did not find the page), so
 * that major faults alone do not prove that a disk was read.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/files.h"
#include "studies/baseline/bench/memory.h"
#include "studies/baseline/families/families.h"

enum { HOLE, MINOR, MAJOR, CACHED, UNMAPPED };

struct mapping {
	int fd;
	uint64_t pages;
};

static int prepare_fault(struct work *w, const struct row *row)
{
	struct mapping *m = calloc(1, sizeof(*m));
	uint64_t most = w->protocol->quick ? row->quick_calls : row->calls;

	w->own = m;
	if (!m)
		return work_fail(w, ENOMEM, "no memory");
	m->fd = -1;
	if (row->which == MINOR)
		return 0;
	m->pages = most > row->counted_calls ? most : row->counted_calls;
	if (row->which >= CACHED)
		return file_make_cached(w, m->pages * PAGE_BYTES, &m->fd);
	if (row->which == MAJOR)
		return file_make(w, m->pages * PAGE_BYTES, &m->fd);
	return file_make_hole(w, m->pages * PAGE_BYTES, &m->fd);
}

static void undo_fault(struct work *w)
{
	struct mapping *m = w->own;

	if (m && m->fd >= 0)
		close(m->fd);
	free(m);
}

static long major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_majflt;
}

/* Drops a file's cached pages first. Truncates a hole, so that each of its pages is a hole again. */
static int renew(struct work *w, const struct row *row, struct mapping *m)
{
	if (row->which == HOLE && (ftruncate(m->fd, 0) ||
				   ftruncate(m->fd, m->pages * PAGE_BYTES)))
		return work_fail(w, errno, "cannot make the hole");
	return row->which == MAJOR ? file_forget(w, m->fd) : 0;
}

static int time_fault(struct work *w, const struct row *row, uint64_t calls)
{
	struct mapping *m = w->own;
	int kind = row->which == MINOR ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	uint64_t step = 1, page = 0;
	long majors;
	char *at;
	int err = row->which == MINOR ? 0 : renew(w, row, m);

	if (err)
		return err;
	task_pin(0);
	at = mmap(NULL, calls * PAGE_BYTES, PROT_READ | PROT_WRITE, kind, m->fd, 0);
	if (at == MAP_FAILED)
		return work_fail(w, errno, "cannot map memory");
	/* One fault a page: no huge page, no readahead, no neighbours mapped along. */
	if (row->which < CACHED)
		madvise(at, calls * PAGE_BYTES, row->which == MINOR ? MADV_NOHUGEPAGE : MADV_RANDOM);
	if (row->which >= MAJOR)
		step = file_stride(calls);
	majors = major_faults();
	region_begin(w);
	for (uint64_t i = 0; i < calls; i++) {
		if (row->which >= MAJOR)
			(void)*(volatile char *)(at + page * PAGE_BYTES);
		else
			*(volatile char *)(at + page * PAGE_BYTES) = 1;
		page = (page + step) % calls;
	}
	if (row->which != UNMAPPED)
		region_end(w);
	w->witness[WITNESS_MAPPED] = w->counting ? ram_mapped_bytes(at) / PAGE_BYTES : NAN;
	if (row->which == UNMAPPED) {
		munmap(at, calls * PAGE_BYTES);
		region_end(w);
	}
	w->witness[WITNESS_MAJOR] = major_faults() - majors;
	region_per_call(w, row, calls);
	if (row->which != UNMAPPED)
		munmap(at, calls * PAGE_BYTES);
	return 0;
}

#define IN_PAGE_CACHE                                                                       \
	{ AT_LEAST, EVENT_user_faults, 0, 1, 0, "pages are faulted in" },                   \
	{ AT_MOST, EVENT_user_faults, 0.25, 0, 0, "a fault maps its neighbours too" },      \
	{ EXACTLY, WITNESS(WITNESS_MAPPED), 1, 0, 0, "each page is mapped in the end" },    \
	{ EXACTLY, EVENT_major, 0, 0, 0, "none is major" },                                 \
	{ EXACTLY, EVENT_block_reads, 0, 0, 0, "no disk is read" }

static const struct row rows[] = {
	{ .name = "fault-hole", .title = "page fault of a hole in a mapped file, written",
	  .unit = "us", .which = HOLE, .warm_ups = 1, .calls = 10000, .quick_calls = 2000,
	  .counted_calls = 1009,
	  .invariants = {
		{ EXACTLY, EVENT_user_faults, 1, 0, 0, "one fault a page" },
		{ EXACTLY, EVENT_block_reads, 0, 0, 0, "a hole reads no disk" },
		{ EXACTLY, EVENT_block_issues, 0, 0, 0, "and asks none" },
		{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" },
	  } },
	{ .name = "fault-minor", .title = "page fault of anonymous memory", .unit = "us",
	  .which = MINOR, .extra = true, .warm_ups = 1, .calls = 100000,
	  .quick_calls = 10000, .counted_calls = 1009,
	  .invariants = {
		{ EXACTLY, EVENT_user_faults, 1, 0, 0, "one fault a page" },
		{ EXACTLY, EVENT_minor, 1, 0, 0, "each is minor" },
		{ EXACTLY, EVENT_block_reads, 0, 0, 0, "no disk is read" },
		{ EXACTLY, EVENT_syscalls, 0, 0, 0, "no system call is made" },
	  } },
	{ .name = "fault-major", .title = "page fault that reads a disk", .unit = "us",
	  .which = MAJOR, .extra = true, .calls = 5000, .quick_calls = 500, .counted_calls = 1009,
	  .invariants = {
		{ EXACTLY, EVENT_user_faults, 1, 0, 0, "one fault a page" },
		{ EXACTLY, EVENT_major, 1, 0, 0, "each is major" },
		{ EXACTLY, WITNESS(WITNESS_MAJOR), 1, 0, 0, "each is major by its own account" },
		{ EXACTLY, EVENT_block_reads, 1, 0, 0, "each reads the disk once" },
	  } },
	{ .name = "fault-cached", .title = "first touch of a page in the page cache, mapped",
	  .unit = "us", .which = CACHED, .extra = true, .warm_ups = 1, .calls = 16384,
	  .quick_calls = 16384, .counted_calls = 16384, .invariants = { IN_PAGE_CACHE } },
	{ .name = "fault-cached-unmapped", .title = "the same, and unmapping it", .unit = "us",
	  .which = UNMAPPED, .extra = true, .warm_ups = 1, .calls = 16384, .quick_calls = 16384,
	  .counted_calls = 16384, .invariants = { IN_PAGE_CACHE } },
};

const struct family family_fault = {
	.name = "fault", .rows = rows, .count = 5, .prepare = prepare_fault, .time = time_fault,
	.undo = undo_fault,
};
