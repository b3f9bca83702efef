// SPDX-License-Identifier: GPL-2.0
/*
 * Zero-copy sends that the kernel refuses although the notification of the send before might have served
 * for them, too: the tail of what is unsent is held back by TCP_CORK and by a receiver that does not read.
 *
 * usage: refusals extend|both
 * extend: a small send, then more of them when the user may pin no more pages. both: before these, sends
 * too large to share a notification, until one is refused for want of option memory, of which there must be
 * little. Gives up root first, for whom no limit of pins holds. Prints how many sends were refused.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/guest/check.h"

enum {
	SMALL_BYTES = 64, LARGE_BYTES = 300 * 1000, RECEIVE_BYTES = 4096, SEND_BYTES = 4 << 20,
	LARGE_MOST = 12, SMALL_SENDS = 5, NOBODY = 65534, PINS_AT_FIRST_BYTES = 8 << 20,
};

static char memory[LARGE_BYTES];

static void pins_limit(rlim_t bytes)
{
	struct rlimit most = { bytes, bytes };

	check(setrlimit(RLIMIT_MEMLOCK, &most), "setrlimit");
}

static void power_give_up(void)
{
	check(setresgid(NOBODY, NOBODY, NOBODY), "setresgid");
	check(setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
}

static void option(int socket, int level, int name, int value, const char *what)
{
	check(setsockopt(socket, level, name, &value, sizeof(value)), what);
}

/* A connection whose other end takes little and reads nothing. */
static int corked(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t bytes = sizeof(at);

	option(listener, SOL_SOCKET, SO_RCVBUF, RECEIVE_BYTES, "SO_RCVBUF");
	check(bind(listener, (struct sockaddr *)&at, bytes), "bind");
	check(listen(listener, 1), "listen");
	check(getsockname(listener, (struct sockaddr *)&at, &bytes), "getsockname");
	option(from, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BYTES, "SO_SNDBUFFORCE");
	check(connect(from, (struct sockaddr *)&at, bytes), "connect");
	option(from, SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY");
	option(from, IPPROTO_TCP, TCP_CORK, 1, "TCP_CORK");
	return from;
}

static bool is_refused(int to, size_t bytes)
{
	ssize_t sent = send(to, memory, bytes, MSG_ZEROCOPY | MSG_DONTWAIT);

	if (sent < 0 && errno == ENOBUFS)
		return true;
	check(sent - (ssize_t)bytes, "send");
	return false;
}

int main(int argc, char **argv)
{
	bool both = argc == 2 && !strcmp(argv[1], "both");
	int refused = 0, to;

	if (argc != 2 || (!both && strcmp(argv[1], "extend"))) {
		fprintf(stderr, "usage: refusals extend|both\n");
		return 2;
	}
	to = corked();
	pins_limit(PINS_AT_FIRST_BYTES);
	power_give_up();
	for (int i = 0; both && i < LARGE_MOST && !refused; i++)
		refused += is_refused(to, LARGE_BYTES);
	if (!both)
		refused += is_refused(to, SMALL_BYTES);
	pins_limit(0);
	for (int i = 0; i < SMALL_SENDS; i++)
		refused += is_refused(to, SMALL_BYTES);
	printf("%d\n", refused);
	return 0;
}
