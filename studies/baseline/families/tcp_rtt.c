// SPDX-License-Identifier: GPL-2.0
/* Family rtt: 64 bytes to a peer by TCP and back. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/bench/proof.h"
#include "studies/baseline/families/families.h"

enum { LOOPBACK, REMOTE };
enum { MESSAGE_BYTES = 64, WARM_UP = 5 };

static int prepare_rtt(struct work *w, const struct row *row)
{
	return net_own(w, row->which == REMOTE);
}

static void echo(int listener)
{
	char message[MESSAGE_BYTES];
	int fd = accept(listener, NULL, NULL);

	while (recv(fd, message, sizeof(message), MSG_WAITALL) == sizeof(message))
		if (send(fd, message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
			break;
	_exit(0);
}

static int round_trip(struct work *w, int fd)
{
	char message[MESSAGE_BYTES] = {};

	if (send(fd, message, sizeof(message), MSG_NOSIGNAL) != sizeof(message) ||
	    recv(fd, message, sizeof(message), MSG_WAITALL) != sizeof(message))
		return work_fail(w, errno, "the connection broke");
	return 0;
}

static int time_rtt(struct work *w, const struct row *row, uint64_t calls)
{
	uint64_t *ticks = calloc(calls, sizeof(*ticks));
	in_port_t port;
	int listener = connection_listen(w, w->own, &port), fd, err = 0;
	pid_t peer;

	if (listener < 0)
		return listener;
	/* Both ends run on one CPU, as on the published machine. The relay has another. */
	task_pin(0);
	peer = task_fork();
	if (!peer) {
		fault_inject_peer(w->protocol->fault);
		echo(listener);
	}
	close(listener);
	fd = connection_open(w, w->own, port);
	if (fd < 0)
		return fd;
	for (int i = 0; i < WARM_UP && !err; i++)
		err = round_trip(w, fd);
	net_region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++) {
		uint64_t from = region_tick();

		err = round_trip(w, fd);
		ticks[i] = region_tick() - from;
	}
	net_region_end(w);
	w->witness[WITNESS_RETRANSMITS] = tcp_retransmits(fd);
	w->witness[WITNESS_DELAY] = tcp_delay_kept(w, fd);
	if (!err)
		region_singles(w, row, ticks, calls);
	close(fd);
	task_reap(peer);
	free(ticks);
	return err;
}

/* The peer may enter its next receive just before an end of the region or just after it. */
#define EACH_TRIP                                                                           \
	{ EXACTLY, EVENT_sends, 2, 0, 0.001, "two sends a round trip" },                    \
	{ AT_LEAST, EVENT_receives, 2, -1, 0, "two receives a round trip" },                \
	{ AT_MOST, EVENT_receives, 2, 1, 0, "no more than two receives a round trip" },     \
	{ EXACTLY, WITNESS(WITNESS_STRAYS), 0, 0, 0, "no packet takes another device" },               \
	{ EXACTLY, WITNESS(WITNESS_RETRANSMITS), 0, 0, 0, "no segment is sent again" },              \
	{ AT_LEAST, EVENT_switches, 2, -2, 0.02, "each side waits for the other" },         \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" }

static const struct row rows[] = {
	{ .name = "tcp-rtt", .title = "TCP round trip, loopback", .unit = "us",
	  .which = LOOPBACK, .takes_turns = true, .calls = 100000, .quick_calls = 5000,
	  .counted_calls = 5003,
	  .invariants = { EACH_TRIP,
		/* Tasks send these. netem sends from a timer (net/sched/sch_netem.c). */
		{ AT_LEAST, EVENT_packets, 2, -2, 0, "two packets a round trip are sent" },
		{ AT_MOST, EVENT_wakes_away, 0.05, 0, 0, "both are on one CPU" },
		{ EXACTLY, WITNESS(WITNESS_PACKETS), 2, 0, 0.01,
		  "data there and back, each with the answer to the last" } } },
	{ .name = "tcp-rtt-remote", .title = "TCP round trip, remote path", .unit = "ms",
	  .which = REMOTE, .calls = 300, .quick_calls = 30, .counted_calls = 97,
	  .invariants = { EACH_TRIP,
		{ AT_LEAST, WITNESS(WITNESS_DELAY), 0, 1, 0.01, "no trip is shorter than the delay" },
		{ EXACTLY, WITNESS(WITNESS_PACKETS), 1, 0, 0.01,
		  "a packet a round trip leaves the near side" } } },
};

const struct family family_rtt = {
	.name = "rtt", .root = true, .rows = rows, .count = 2, .prepare = prepare_rtt,
	.time = time_rtt, .undo = net_disown,
};
