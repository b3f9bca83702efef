// SPDX-License-Identifier: GPL-2.0
/*
 * Family cache: how large a file the page cache holds. A memory control group limits the cache, so the
 * knee is known beforehand and the rest of the machine keeps its caches. A file is read once and read
 * again backwards, as published. Below the knee the second reading takes no block from the disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/files.h"
#include "studies/baseline/families/families.h"
#include "userspace/common/system/process_numbers.h"

#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"

enum { JANITOR_TRIES = 500, JANITOR_NAP_US = 10000 };

/* A memory control group for one pass, removed however the pass ends. */
struct cgroup {
	char path[192];		/* "" if there is none */
	char home[64];		/* of the group's tasks once they leave */
	int alive;		/* the janitor waits for its end; -1: none */
};

static int write_text(const char *folder, const char *file, const char *text)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* v2 gives a child the memory controller only if its parent says so. */
static bool v2_has_memory(void)
{
	FILE *file = fopen(V2 "/cgroup.subtree_control", "re");
	char line[256] = "";

	if (file && !fgets(line, sizeof(line), file))
		*line = '\0';
	if (file)
		fclose(file);
	return strstr(line, "memory") != NULL;
}

/*
 * Forks a process that removes the group. It has a session of its own, so that whoever kills the pass
 * does not kill it. It wakes when the last process that holds the pipe's other end has ended.
 */
static int start_janitor(struct cgroup *g)
{
	int alive[2];
	pid_t pid;

	if (pipe2(alive, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		char byte;

		setsid();
		prctl(PR_SET_NAME, "baseline-tidy");
		signal(SIGTERM, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		/* A reader of the run's output would wait for its end. */
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		close(alive[1]);
		while (read(alive[0], &byte, 1) < 0 && errno == EINTR)
			;
		for (int i = 0; i < JANITOR_TRIES && rmdir(g->path) && errno == EBUSY; i++)
			usleep(JANITOR_NAP_US);
		_exit(0);
	}
	close(alive[0]);
	g->alive = alive[1];
	return 0;
}

/* Moves this process, and children made later, into a group of at most @bytes. */
static int cgroup_enter(struct work *w, struct cgroup *g, uint64_t bytes)
{
	bool v1 = !access(V1 "/memory.limit_in_bytes", F_OK);
	char limit[32];
	int err;

	g->alive = -1;
	if (!v1 && !v2_has_memory())
		return work_fail(w, 0, "no memory control groups here, and filling all memory would "
				 "drop the caches of everybody");
	snprintf(g->home, sizeof(g->home), "%s", v1 ? V1 : V2);
	snprintf(g->path, sizeof(g->path), "%s/copyscope-baseline-%u", g->home, run_number());
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)bytes);
	if (mkdir(g->path, 0755)) {
		err = errno;
		*g->path = '\0';
		return work_fail(w, err, "cannot make a memory control group in %s", g->home);
	}
	err = start_janitor(g);
	if (!err)
		err = write_text(g->path, v1 ? "memory.limit_in_bytes" : "memory.max", limit);
	if (!err)
		err = write_text(g->path, "cgroup.procs", "0");
	return err ? work_fail(w, -err, "cannot use the memory control group %s", g->path) : 0;
}

static void cgroup_leave(struct cgroup *g)
{
	if (!*g->path)
		return;
	write_text(g->home, "cgroup.procs", "0");
	rmdir(g->path);
	if (g->alive >= 0)
		close(g->alive);
}

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
