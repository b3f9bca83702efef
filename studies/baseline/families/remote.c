// SPDX-License-Identifier: GPL-2.0
/*
 * Family remote: blocks of a file beyond the remote path, by SSHFS as published. FUSE runs on this
 * side, sftp-server on the other. Plain TCP joins them: ssh would add the time of its ciphers.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/bench/files.h"
#include "studies/baseline/families/families.h"
#include "userspace/common/system/helper.h"

#define MOUNT_POINT "/mnt"

enum { SEQUENTIAL, RANDOM };
enum { FUSE_MAGIC = 0x65735546, WAIT_TRIES = 400, WAIT_US = 10000, WAIT_TRIPS = 20,
       SMALLEST_MIB = 2, LARGEST_MIB = 64 };

struct remote {
	struct net net;
	int disk_fd;			/* the file as the server has it */
	char path[64];			/* and as the client sees it */
	pid_t server, client;
};

/* One connection, one sftp-server, on the far side. */
static pid_t serve(struct work *w, struct remote *r, int listener)
{
	static const char *const argv[] = { "sftp-server", "-R", NULL };
	pid_t pid = task_fork();
	int fd;

	if (pid)
		return pid;
	if (net_enter(w, &r->net, FAR))
		_exit(1);
	fd = accept(listener, NULL, NULL);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	/* The client names the nameless file by a descriptor of this process. */
	helper_become(argv, &r->disk_fd, 1);
	_exit(127);
}

static pid_t mount_it(struct remote *r, in_port_t port)
{
	char options[200], from[64];
	const char *const argv[] = { "sshfs", "-f", from, MOUNT_POINT, "-o", options, NULL };
	pid_t pid = task_fork();

	if (pid)
		return pid;
	snprintf(options, sizeof(options),
		 "directport=%d,follow_symlinks,ro,dir_cache=no,max_conns=1", ntohs(port));
	snprintf(from, sizeof(from), "10.251.0.2:/proc/%d/fd", (int)r->server);
	helper_become(argv, NULL, 0);
	_exit(127);
}

static int wait_for_mount(struct work *w, const struct remote *r)
{
	/* To mount takes some round trips. */
	int tries = WAIT_TRIES + WAIT_TRIPS * w->protocol->rtt_ms * 1000 / WAIT_US;
	struct statfs fs;
	struct stat st;

	for (int i = 0; i < tries; i++) {
		if (!statfs(MOUNT_POINT, &fs) && fs.f_type == FUSE_MAGIC && !stat(r->path, &st))
			return 0;
		usleep(WAIT_US);
	}
	return work_fail(w, 0, "sshfs did not mount within %d s", tries * (WAIT_US / 1000) / 1000);
}

static uint64_t largest_blocks(const struct work *w, const struct row *row)
{
	uint64_t mib = w->protocol->quick ? SMALLEST_MIB : LARGEST_MIB;
	uint64_t blocks = (mib << 20) / BLOCK_BYTES;

	return blocks > row->counted_calls ? blocks : row->counted_calls;
}

static int have_programs(struct work *w)
{
	if (access("/dev/fuse", R_OK | W_OK))
		return work_fail(w, errno, "no network file system can be mounted: /dev/fuse");
	if (!helper_exists("sshfs") || !helper_exists("sftp-server"))
		return work_fail(w, 0, "sshfs and sftp-server are not installed: apt-get install "
				 "sshfs openssh-sftp-server");
	return 0;
}

static int prepare_remote(struct work *w, const struct row *row)
{
	struct remote *r = w->own = calloc(1, sizeof(*r));
	char delay[WORK_WHY_BYTES];
	in_port_t port;
	int listener, err;

	*r = (struct remote){ .net = NET_NONE, .disk_fd = -1 };
	err = have_programs(w);
	if (!err)
		err = file_make(w, largest_blocks(w, row) * BLOCK_BYTES, &r->disk_fd);
	if (!err && (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		err = work_fail(w, errno, "cannot make a mount namespace");
	if (!err)
		err = net_remote(w, &r->net);
	if (err)
		return err;
	listener = connection_listen(w, &r->net, &port);
	if (listener < 0)
		return listener;
	r->server = serve(w, r, listener);
	close(listener);
	snprintf(r->path, sizeof(r->path), MOUNT_POINT "/%d", r->disk_fd);
	r->client = mount_it(r, port);
	memcpy(delay, w->how, sizeof(delay));
	snprintf(w->how, sizeof(w->how), "sshfs to sftp-server by TCP over %.180s", delay);
	return wait_for_mount(w, r);
}

static void undo_remote(struct work *w)
{
	struct remote *r = w->own;

	umount2(MOUNT_POINT, MNT_DETACH);
	task_reap(r->client);
	task_reap(r->server);
	net_end(&r->net);
	close(r->disk_fd);
	free(r);
}

static int time_remote(struct work *w, const struct row *row, uint64_t calls)
{
	const struct remote *r = w->own;
	uint64_t blocks = w->x ? w->x / BLOCK_BYTES : largest_blocks(w, row), step;
	/* A new descriptor, for which neither the kernel nor sshfs holds a block. */
	int fd = open(r->path, O_RDONLY | O_CLOEXEC), err;
	double disk, received;

	if (fd < 0)
		return work_fail(w, errno, "cannot open the remote file");
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	calls = calls < blocks ? calls : blocks;
	step = row->which == RANDOM ? file_stride(blocks) : 1;
	w->witness[WITNESS_PAGES_BEFORE] = file_cached_pages(fd);
	disk = file_disk_bytes();
	received = net_received_bytes(w);
	err = file_read_region(w, fd, calls, blocks, step);
	w->witness[WITNESS_REMOTE_BYTES] = net_received_bytes(w) - received;
	w->witness[WITNESS_DISK_BYTES] = file_disk_bytes() - disk;
	region_per_call(w, row, calls);
	close(fd);
	return err;
}

static uint64_t sizes(const struct work *w, int i)
{
	uint64_t mib = (uint64_t)SMALLEST_MIB << i;

	return mib <= (w->protocol->quick ? SMALLEST_MIB : LARGEST_MIB) ? mib << 20 : 0;
}

#define EACH_BLOCK                                                                          \
	{ EXACTLY, WITNESS(WITNESS_PAGES_BEFORE), 0, 0, 0, "the page cache is empty before" }, \
	{ EXACTLY, EVENT_preads, 1, 0, 0, "one read call a block" },                        \
	{ AT_LEAST, WITNESS(WITNESS_REMOTE_BYTES), BLOCK_BYTES, 0, 0,                       \
	  "each block comes over the remote path" },                                        \
	{ EXACTLY, EVENT_block_reads, 0, 0, 0, "the reader reads no disk of its own" },     \
	{ EXACTLY, WITNESS(WITNESS_DISK_BYTES), 0, 0, 0, "getrusage says so too" }

static const struct row rows[] = {
	{ .name = "remote-sequential", .title = "remote file read in order, a block, no readahead",
	  .unit = "ms", .which = SEQUENTIAL, .calls = 200, .quick_calls = 40,
	  .counted_calls = 97, .point = sizes, .x_unit = "bytes of file",
	  .invariants = { EACH_BLOCK } },
	{ .name = "remote-random", .title = "remote file read at random, a block",
	  .unit = "ms", .which = RANDOM, .calls = 200, .quick_calls = 40, .counted_calls = 97,
	  .point = sizes, .x_unit = "bytes of file", .invariants = { EACH_BLOCK } },
};

const struct family family_remote = {
	.name = "remote", .root = true, .rows = rows, .count = 2, .prepare = prepare_remote,
	.time = time_remote, .undo = undo_remote,
};
