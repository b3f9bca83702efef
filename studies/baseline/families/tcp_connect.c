// SPDX-License-Identifier: GPL-2.0
/* Family connect: setting up a TCP connection, and closing one that has carried a byte. */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/families/families.h"

enum { LOOPBACK = 0, REMOTE = 1, CLOSING = 2 };

static int prepare_connect(struct work *w, const struct row *row)
{
	return net_own(w, row->which & REMOTE);
}

/* Takes connections one by one; each is closed once its client has closed it. */
static void serve(int listener)
{
	char byte;

	for (;;) {
		int fd = accept(listener, NULL, NULL);

		while (recv(fd, &byte, 1, 0) > 0)
			;
		close(fd);
	}
}

/* In the counting pass alone: the questions would be timed, too. */
static void witness(struct work *w, int fd)
{
	if (!w->counting)
		return;
	w->witness[WITNESS_ESTABLISHED] += tcp_established(fd);
	w->witness[WITNESS_RETRANSMITS] += tcp_retransmits(fd);
	w->witness[WITNESS_DELAY] = fmin(w->witness[WITNESS_DELAY], tcp_delay_kept(w, fd));
}

static int one(struct work *w, const struct sockaddr_in *to, bool closing, uint64_t *ticks)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t from = region_tick();

	if (fd < 0 || connect(fd, (const void *)to, sizeof(*to)))
		return work_fail(w, errno, "cannot connect");
	*ticks = region_tick() - from;
	witness(w, fd);
	if (closing && send(fd, "x", 1, MSG_NOSIGNAL) != 1)
		return work_fail(w, errno, "cannot send");
	from = region_tick();
	close(fd);
	if (closing)
		*ticks = region_tick() - from;
	return 0;
}

static int time_connect(struct work *w, const struct row *row, uint64_t calls)
{
	const struct net *n = w->own;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = n->far };
	int listener = connection_listen(w, n, &to.sin_port), err = 0;
	uint64_t *ticks = calloc(calls, sizeof(*ticks));
	pid_t peer;

	if (listener < 0)
		return listener;
	task_pin(0);
	peer = task_fork();
	if (!peer)
		serve(listener);
	close(listener);
	w->witness[WITNESS_ESTABLISHED] = w->witness[WITNESS_RETRANSMITS] = 0;
	net_region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++)
		err = one(w, &to, row->which & CLOSING, &ticks[i]);
	net_region_end(w);
	if (!err)
		region_singles(w, row, ticks, calls);
	task_reap(peer);
	free(ticks);
	return err;
}

#define EACH_CONNECTION                                                                     \
	{ EXACTLY, EVENT_connects, 1, 0, 0, "one connect() a connection" },                 \
	{ EXACTLY, WITNESS(WITNESS_ESTABLISHED), 1, 0, 0,                                   \
	  "established when connect() returns" },                                           \
	{ EXACTLY, WITNESS(WITNESS_RETRANSMITS), 0, 0, 0, "no SYN is sent again" },         \
	{ EXACTLY, EVENT_fin_sent, 1, 0, 0, "close() sends a FIN" },                        \
	{ EXACTLY, WITNESS(WITNESS_RESETS), 0, 0, 0, "no reset is sent" },                             \
	{ EXACTLY, WITNESS(WITNESS_STRAYS), 0, 0, 0, "no packet takes another device" }

#define ONE_SEND { EXACTLY, EVENT_sends, 1, 0, 0, "one send before close()" }

static const struct row rows[] = {
	{ .name = "connect", .title = "TCP connection set-up, loopback", .unit = "us",
	  .which = LOOPBACK, .takes_turns = true, .calls = 20000, .quick_calls = 2000,
	  .counted_calls = 1009,
	  .invariants = { EACH_CONNECTION,
		{ EXACTLY, WITNESS(WITNESS_OPENS), 2, 0, 0, "both ends are opened" } } },
	{ .name = "connect-remote", .title = "TCP connection set-up, remote path", .unit = "ms",
	  .which = REMOTE, .calls = 300, .quick_calls = 30, .counted_calls = 53,
	  .invariants = { EACH_CONNECTION,
		{ AT_LEAST, WITNESS(WITNESS_DELAY), 0, 1, 0.01, "no trip is shorter than the delay" },
		{ EXACTLY, WITNESS(WITNESS_OPENS), 1, 0, 0, "this end is opened" } } },
	{ .name = "close", .title = "TCP connection teardown, loopback", .unit = "us",
	  .which = LOOPBACK | CLOSING, .takes_turns = true, .calls = 20000, .quick_calls = 2000,
	  .counted_calls = 1009, .invariants = { EACH_CONNECTION, ONE_SEND } },
	{ .name = "close-remote", .title = "TCP connection teardown, remote path", .unit = "us",
	  .which = REMOTE | CLOSING, .calls = 300, .quick_calls = 30, .counted_calls = 53,
	  .invariants = { EACH_CONNECTION, ONE_SEND } },
};

const struct family family_connect = {
	.name = "connect", .root = true, .rows = rows, .count = 4, .prepare = prepare_connect,
	.time = time_connect, .undo = net_disown,
};
