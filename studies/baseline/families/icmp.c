// SPDX-License-Identifier: GPL-2.0
/* Family icmp: an echo request and its reply, which the kernel sends without any process. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "studies/baseline/bench/bench.h"
#include "studies/baseline/bench/connection.h"
#include "studies/baseline/bench/network.h"
#include "studies/baseline/families/families.h"

enum { LOOPBACK, REMOTE, EVERY_2_MS, EVERY_SECOND };
enum { PAYLOAD_BYTES = 56, WARM_UP = 3 };

/* Between a reply and the next request: the published program was ping, which sleeps. */
static const struct timespec intervals[] = {
	[EVERY_2_MS] = { .tv_nsec = 2000000 }, [EVERY_SECOND] = { .tv_sec = 1 },
};

static int prepare_icmp(struct work *w, const struct row *row)
{
	return net_own(w, row->which == REMOTE);
}

/* A datagram ICMP socket: the kernel fills in identifier and checksum and sorts out replies. */
static int echo(struct work *w, int fd, const struct sockaddr_in *to)
{
	struct {
		struct icmphdr header;
		char payload[PAYLOAD_BYTES];
	} packet = { .header = { .type = ICMP_ECHO } };

	if (sendto(fd, &packet, sizeof(packet), 0, (void *)to, sizeof(*to)) != sizeof(packet) ||
	    recv(fd, &packet, sizeof(packet), 0) != sizeof(packet) ||
	    packet.header.type != ICMP_ECHOREPLY)
		return work_fail(w, errno, "no reply");
	return 0;
}

static int time_icmp(struct work *w, const struct row *row, uint64_t calls)
{
	const struct net *n = w->own;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = n->far };
	uint64_t *ticks = calloc(calls, sizeof(*ticks));
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP), err = 0;

	if (fd < 0)
		return work_fail(w, errno, "cannot make an ICMP socket");
	task_pin(0);
	for (int i = 0; i < WARM_UP && !err; i++)
		err = echo(w, fd, &to);
	net_region_begin(w);
	for (uint64_t i = 0; i < calls && !err; i++) {
		uint64_t from;

		if (row->which >= EVERY_2_MS)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &intervals[row->which], NULL);
		from = region_tick();
		err = echo(w, fd, &to);
		ticks[i] = region_tick() - from;
	}
	net_region_end(w);
	if (!err)
		region_singles(w, row, ticks, calls);
	close(fd);
	free(ticks);
	return err;
}

#define EACH_ECHO                                                                           \
	{ EXACTLY, EVENT_sends, 1, 0, 0, "one request a round trip" },                      \
	{ EXACTLY, EVENT_receives, 1, 0, 0, "one reply a round trip" },                     \
	{ EXACTLY, WITNESS(WITNESS_STRAYS), 0, 0, 0, "no packet takes another device" },               \
	{ EXACTLY, EVENT_forks, 0, 0, 0, "no task created" }
#define BACK_TO_BACK                                                                        \
	EACH_ECHO,                                                                          \
	{ EXACTLY, EVENT_syscalls, 2, 0, 0, "no other system call, so no other process" }
#define AFTER_SLEEPING                                                                      \
	EACH_ECHO,                                                                          \
	{ EXACTLY, EVENT_syscalls, 3, 0, 0, "no other system call but sleep" },             \
	{ EXACTLY, EVENT_voluntary, 1, 0, 0, "it sleeps once, and waits for no reply" },    \
	{ EXACTLY, WITNESS(WITNESS_PACKETS), 2, 0, 0, "request and reply are on the device" }

static const struct row rows[] = {
	{ .name = "icmp-rtt", .title = "ICMP round trip, loopback", .unit = "us",
	  .which = LOOPBACK, .extra = true, .calls = 100000, .quick_calls = 5000,
	  .counted_calls = 5003,
	  .invariants = {
		BACK_TO_BACK,
		{ EXACTLY, WITNESS(WITNESS_PACKETS), 2, 0, 0,
		  "request and reply are on the device" },
		{ EXACTLY, EVENT_voluntary, 0, 0, 0,
		  "the reply is there when the request is sent: nobody waits" },
	  } },
	{ .name = "icmp-rtt-remote", .title = "ICMP round trip, remote path", .unit = "ms",
	  .which = REMOTE, .extra = true, .calls = 300, .quick_calls = 30, .counted_calls = 97,
	  .invariants = {
		BACK_TO_BACK,
		{ EXACTLY, WITNESS(WITNESS_PACKETS), 1, 0, 0, "each request is on the device" },
		{ AT_LEAST, EVENT_voluntary, 1, 0, 0, "each request is waited for" },
	  } },
	{ .name = "icmp-rtt-2ms", .title = "ICMP round trip, loopback, every 2 ms", .unit = "us",
	  .which = EVERY_2_MS, .extra = true, .calls = 300, .quick_calls = 30,
	  .counted_calls = 31, .invariants = { AFTER_SLEEPING } },
	{ .name = "icmp-rtt-1s", .title = "ICMP round trip, loopback, every second", .unit = "us",
	  .which = EVERY_SECOND, .extra = true, .calls = 10, .quick_calls = 1, .counted_calls = 2,
	  .most_quick_runs = 2, .invariants = { AFTER_SLEEPING } },
};

const struct family family_icmp = {
	.name = "icmp", .root = true, .rows = rows, .count = 4, .prepare = prepare_icmp,
	.time = time_icmp, .undo = net_disown,
};
