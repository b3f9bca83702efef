// SPDX-License-Identifier: GPL-2.0
/* Family stream: how fast one TCP connection carries bytes, in sends of 64 KiB. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/baseline/bench/task.h"
#include "userspace/baseline/bench/work.h"
#include "userspace/baseline/families/families.h"
#include "userspace/baseline/lab/net/net.h"
#include "userspace/baseline/timing/clock.h"

enum { LOOPBACK, REMOTE };
enum { SEND_BYTES = 65536 };

static int prepare_stream(struct work *w, const struct row *row)
{
	struct net *n = w->own = calloc(1, sizeof(*n));

	return row->which == LOOPBACK ? net_loopback(w, n) : net_remote(w, n);
}

static void undo_stream(struct work *w)
{
	net_end(w->own);
	free(w->own);
}

static void drain(int listener, uint64_t *arrived)
{
	static char buffer[4 * SEND_BYTES];
	int fd = accept(listener, NULL, NULL);
	ssize_t got;

	while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		*arrived += got;
	_exit(got < 0);
}

static int send_all(struct work *w, int fd, uint64_t calls)
{
	static char buffer[SEND_BYTES];

	for (uint64_t i = 0; i < calls; i++)
		if (send(fd, buffer, sizeof(buffer), MSG_NOSIGNAL) != sizeof(buffer))
			return work_fail(w, errno, "the connection broke");
	return 0;
}

/* The clock stops when the last byte has arrived, not when it was handed over. */
static int time_stream(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t *arrived = mmap(NULL, sizeof(*arrived), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	in_port_t port;
	int listener = net_listen(w, w->own, &port), fd, err, status;
	pid_t peer;

	if (listener < 0)
		return listener;
	peer = task_fork();
	if (!peer)
		drain(listener, arrived);
	close(listener);
	fd = net_connect(w, w->own, port);
	if (fd < 0)
		return fd;
	net_region_begin(w);
	err = send_all(w, fd, calls);
	w->witness[WITNESS_RETRANSMITS] = net_retransmits(fd);
	w->witness[WITNESS_DELAY] = net_delay_kept(w, fd);
	net_tell_limits(w, fd);
	shutdown(fd, SHUT_WR);
	waitpid(peer, &status, 0);
	net_region_end(w);
	close(fd);
	w->witness[WITNESS_BYTES] = *arrived;
	w->witness[WITNESS_EXTRA_BYTES] = (double)calls * SEND_BYTES - *arrived;
	w->value = *arrived * 8e3 / clock_ns(w->spent_ticks);
	munmap(arrived, sizeof(*arrived));
	return err;
}

#define EACH_SEND                                                                           \
	{ EXACTLY, EVENT_sends, 1, 0, 0, "one send for each 65536 bytes" },                 \
	{ EXACTLY, WITNESS(WITNESS_BYTES), SEND_BYTES, 0, 0, "every byte arrived" },        \
	{ AT_LEAST, WITNESS(WITNESS_PACKETS), 1, 0, 0, "each send is at least a packet on the device" }, \
	{ EXACTLY, WITNESS(WITNESS_STRAYS), 0, 0, 0, "no packet takes another device" },               \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" }

static const struct row rows[] = {
	{ .name = "tcp-stream", .title = "peak TCP bandwidth, loopback", .unit = "Mbit/s",
	  .which = LOOPBACK, .calls = 50000, .quick_calls = 5000, .counted_calls = 1009,
	  .invariants = {
		EACH_SEND,
		/* A peer that waits for a CPU answers late, and TCP tries again. */
		{ AT_MOST, WITNESS(WITNESS_RETRANSMITS), 0.01, 0, 0,
		  "hardly a segment is sent again" },
	  } },
	{ .name = "tcp-stream-remote", .title = "peak TCP bandwidth, remote path",
	  .unit = "Mbit/s", .which = REMOTE, .calls = 2000, .quick_calls = 300,
	  .counted_calls = 211, .invariants = { EACH_SEND,
		{ AT_LEAST, WITNESS(WITNESS_DELAY), 0, 1, 0.01, "no trip is shorter than the delay" } } },
};

const struct family family_stream = {
	.name = "stream", .root = true, .rows = rows, .count = 2, .prepare = prepare_stream,
	.time = time_stream, .undo = undo_stream,
};
