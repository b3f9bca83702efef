// SPDX-License-Identifier: GPL-2.0
/* A process in another network namespace that reads iterators there and passes on what they yield. */
#include "userspace/engine/netns_reader.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/system/confine.h"

/* A block of what an iterator yielded; the last one is empty and says how the walk ended. */
struct block {
	int32_t err;
	uint32_t bytes;
};

enum { BLOCK_BYTES = 64 * 1024 };

static int write_all(int fd, const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t wrote = write(fd, (const char *)from + done, bytes - done);

		if (wrote < 0 && errno != EINTR)
			return -errno;
		done += wrote > 0 ? wrote : 0;
	}
	return 0;
}

static int read_all(int fd, void *into, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t got = read(fd, (char *)into + done, bytes - done);

		if (!got)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		done += got > 0 ? got : 0;
	}
	return 0;
}

/* One iterator from here to its end. */
static int pass_on(int link, int to)
{
	static char bytes[BLOCK_BYTES];
	int fd = bpf_iter_create(link);
	struct block block = { .err = fd < 0 ? -errno : 0 };
	ssize_t got = 1;

	while (fd >= 0 && got > 0) {
		got = read(fd, bytes, sizeof(bytes));
		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			got = 1;
			continue;
		}
		block.err = got < 0 ? -errno : 0;
		block.bytes = got > 0 ? got : 0;
		if (got > 0 && (write_all(to, &block, sizeof(block)) || write_all(to, bytes, got)))
			break;
	}
	if (fd >= 0)
		close(fd);
	block.bytes = 0;
	return write_all(to, &block, sizeof(block));
}

/* Signals of a terminal are for the process that waits for the last reading. libbpf moves descriptors
 * out of 0, 1 and 2, with a call that the filter refuses: so these stay. */
static void live_there(int ns, int link, int from, int to)
{
	int keep[] = { 0, 1, 2, ns, link, from, to };
	char word;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (confine_descriptors(keep, sizeof(keep) / sizeof(*keep)) || setns(ns, CLONE_NEWNET) ||
	    confine_for_good_but(1ull << CAP_BPF) || confine_syscalls(CONFINE_MEASURE))
		_exit(1);
	while (read(from, &word, 1) == 1)
		if (pass_on(link, to))
			break;
	_exit(0);
}

int netns_reader_start(struct netns_reader *e, int ns, int link)
{
	int there[2], back[2], err;

	if (pipe(there))
		return -errno;
	if (pipe(back)) {
		err = -errno;
		close(there[0]);
		close(there[1]);
		return err;
	}
	e->pid = fork();
	if (!e->pid)
		live_there(ns, link, there[0], back[1]);
	err = e->pid < 0 ? -errno : 0;
	close(there[0]);
	close(back[1]);
	e->to = there[1];
	e->from = back[0];
	return err;
}

/* Whole items; the rest of one waits for its end. */
static size_t hand_over(char *buffer, size_t held, size_t size,
			void (*take)(void *arg, const void *item), void *arg)
{
	size_t at = 0;

	for (; held - at >= size; at += size)
		if (take)
			take(arg, buffer + at);
	memmove(buffer, buffer + at, held - at);
	return held - at;
}

int items_drain(int fd, size_t size, void (*take)(void *arg, const void *item), void *arg)
{
	char *buffer = malloc(BLOCK_BYTES + size);
	size_t held = 0;
	ssize_t got = 1;

	if (!buffer)
		return -ENOMEM;
	while (got > 0) {
		got = read(fd, buffer + held, BLOCK_BYTES);
		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			got = 1;
			continue;
		}
		held = hand_over(buffer, held + (got > 0 ? got : 0), size, take, arg);
	}
	free(buffer);
	return got < 0 ? -errno : 0;
}

int netns_reader_walk(const struct netns_reader *e, size_t size, void (*take)(void *arg, const void *item),
		 void *arg)
{
	char *buffer = malloc(BLOCK_BYTES + size);
	struct block block = { .bytes = 1 };
	size_t held = 0;
	int err = buffer ? write_all(e->to, "r", 1) : -ENOMEM;

	while (!err && block.bytes) {
		err = read_all(e->from, &block, sizeof(block));
		if (!err && block.bytes > BLOCK_BYTES)
			err = -EBADMSG;
		if (!err)
			err = read_all(e->from, buffer + held, block.bytes);
		if (!err)
			held = hand_over(buffer, held + block.bytes, size, take, arg);
	}
	free(buffer);
	return err ? err : block.err;
}

void netns_reader_end(struct netns_reader *e)
{
	if (!e->pid)
		return;
	close(e->to);
	close(e->from);
	if (e->pid > 0)
		while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
			;
	e->pid = 0;
}
