// SPDX-License-Identifier: GPL-2.0
/* Options of sockets. */
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/fuzz/tcp/tcp.h"

/* A row: value = one of `values`, or `least << below(doubled)`. */
static const struct {
	int level, name;
	unsigned values, least, doubled;
} options[] = {
	{ SOL_SOCKET, SO_SNDBUF, 0, 2304, 10 },
	{ SOL_SOCKET, SO_RCVBUF, 0, 2304, 10 },
	{ IPPROTO_TCP, TCP_NODELAY, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_CORK, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_CORK, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 200000, 0, 0 },
	{ SOL_SOCKET, SO_RCVLOWAT, 100000, 0, 0 },
	{ IPPROTO_TCP, TCP_QUICKACK, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_INQ, 2, 0, 0 },
	{ SOL_SOCKET, SO_TIMESTAMP, 2, 0, 0 },
	{ SOL_SOCKET, SO_OOBINLINE, 2, 0, 0 },
	{ SOL_SOCKET, SO_KEEPALIVE, 2, 0, 0 },
	{ IPPROTO_TCP, TCP_WINDOW_CLAMP, 0, 1000, 8 },
	{ SOL_SOCKET, SO_PRIORITY, 6, 0, 0 },
	{ SOL_SOCKET, SO_BUSY_POLL, 50, 0, 0 },
	{ IPPROTO_IP, IP_TOS, 64, 0, 0 },
};
enum { OPTIONS = sizeof(options) / sizeof(*options) };

static void set_time_stamps(int fd)
{
	int flags = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID;

	flags |= (one_in(2) ? SOF_TIMESTAMPING_OPT_TSONLY : 0) | (one_in(2) ? SOF_TIMESTAMPING_TX_ACK : 0);
	set_option(fd, SOL_SOCKET, SO_TIMESTAMPING, one_in(2) ? 0 : flags);
}

void call_option(int i)
{
	int fd = all->socket[i].fd;
	unsigned which = below(OPTIONS + 4);
	uint64_t rate = one_in(2) ? UINT64_MAX : 1000000ULL << below(8);

	switch (which) {
	case OPTIONS:
		set_time_stamps(fd);
		return;
	case OPTIONS + 1:
		setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
		return;
	case OPTIONS + 2:
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, one_in(2) ? "reno" : "cubic", 5);
		return;
	case OPTIONS + 3:
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) ^ O_NONBLOCK);
		return;
	}
	if (options[which].name == SO_OOBINLINE && !all->may.urgent)
		return;
	set_option(fd, options[which].level, options[which].name, options[which].values ?
		   below(options[which].values) : options[which].least << below(options[which].doubled));
}
