// SPDX-License-Identifier: GPL-2.0
/* Family stream: how fast one TCP connection carries bytes, in sends of 64 KiB. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/clock.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/families/families.h"

enum { LOOPBACK, REMOTE };
enum { SEND_BYTES = 65536 };

static int prepare_stream(struct work *w, const struct row *row)
{
	return net_own(w, row->which == REMOTE);
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
	struct drain drain;
	int fd = drain_start(w, &drain, w->own, 0), err;
	uint64_t arrived;

	if (fd < 0) {
		drain_free(&drain);
		return fd;
	}
	net_region_begin(w);
	err = send_all(w, fd, calls);
	w->witness[WITNESS_RETRANSMITS] = tcp_retransmits(fd);
	w->witness[WITNESS_DELAY] = tcp_delay_kept(w, fd);
	tcp_tell_limits(w, fd);
	arrived = drain_wait(&drain, fd);
	net_region_end(w);
	close(fd);
	w->witness[WITNESS_BYTES] = arrived;
	w->witness[WITNESS_EXTRA_BYTES] = (double)calls * SEND_BYTES - arrived;
	w->value = arrived * 8e3 / clock_ns(w->spent_ticks);
	drain_free(&drain);
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
	.time = time_stream, .undo = net_disown,
};
