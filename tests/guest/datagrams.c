// SPDX-License-Identifier: GPL-2.0
/*
 * Sends and receives datagrams over loopback by each way that UDP has, and says what it moved itself.
 *
 * usage: datagrams ROUNDS [MODE]
 * MODE "told": without MSG_TRUNC, where calls return what they copied.
 *
 * Before "ready" it leaves 3 datagrams of 1,000 bytes unread, and holds back 500 bytes of a datagram (MSG_MORE). After
 * a line of input it moves them, then ROUNDS datagrams by each way, and prints what moved since that line as JSON. It
 * leaves 2 more unread, and ends at the end of its input; sockets of its own are made and closed in between.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/guest/check.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { BYTES = 4093, SEGMENT = 1400, SEGMENTS = 10, LEFT = 1000, HELD = 500, SHORT = 100, ROOM = 1 << 16 };

static struct {
	long long accepted, tx_reference, tx_splice, returned, peeked, truncated, zerocopy_sends, unread;
} told;

struct pair {
	int to, from;
};

static char buffer[ROOM];
static char *pages;

static struct pair pair_make(int family, int queue)
{
	struct sockaddr_storage address = { .ss_family = family };
	socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	struct pair p = { socket(family, SOCK_DGRAM, 0), socket(family, SOCK_DGRAM, 0) };

	if (family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	if (queue)
		check(setsockopt(p.from, SOL_SOCKET, SO_RCVBUF, &queue, sizeof(queue)), "SO_RCVBUF");
	check(bind(p.from, (struct sockaddr *)&address, size), "bind");
	check(getsockname(p.from, (struct sockaddr *)&address, &size), "getsockname");
	check(connect(p.to, (struct sockaddr *)&address, size), "connect");
	return p;
}

static void pair_close(struct pair p)
{
	close(p.to);
	close(p.from);
}

static void give(int fd, size_t bytes, int flags)
{
	ssize_t sent = send(fd, flags & MSG_ZEROCOPY ? pages : buffer, bytes, flags);

	check(sent == (ssize_t)bytes ? 0 : -1, "send");
	told.accepted += sent;
	if (flags & MSG_ZEROCOPY) {
		told.tx_reference += sent;
		told.zerocopy_sends++;
	}
}

static void take(int fd, size_t room, int flags, size_t whole)
{
	ssize_t got = recv(fd, buffer, room, flags);

	check(got, "recv");
	if (flags & MSG_PEEK) {
		told.peeked += got;
		return;
	}
	/* With MSG_TRUNC the call returns how long the datagram was. */
	got = (size_t)got > room ? (ssize_t)room : got;
	told.returned += got;
	told.truncated += whole - got;
}

static void read_completion(int fd)
{
	struct pollfd wait = { .fd = fd };
	struct msghdr msg = {};
	char control[256];

	msg.msg_control = control;
	msg.msg_controllen = sizeof(control);
	check(poll(&wait, 1, 10000) == 1 ? recvmsg(fd, &msg, MSG_ERRQUEUE) : -1, "no completion");
}

static void plain(int family, int rounds)
{
	struct pair p = pair_make(family, 0);

	for (int i = 0; i < rounds; i++) {
		give(p.to, BYTES, 0);
		take(p.from, ROOM, 0, BYTES);
	}
	pair_close(p);
}

/* One send is cut into ten, and received as it was. */
static void segmented(int rounds, bool gro)
{
	struct pair p = pair_make(AF_INET, 1 << 18);
	int size = SEGMENT, one = 1;
	size_t whole = gro ? SEGMENT * SEGMENTS : SEGMENT;

	check(setsockopt(p.to, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)), "UDP_SEGMENT");
	if (gro)
		check(setsockopt(p.from, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)), "UDP_GRO");
	for (int i = 0; i < rounds; i++) {
		give(p.to, SEGMENT * SEGMENTS, 0);
		for (size_t got = 0; got < SEGMENT * SEGMENTS; got += whole)
			take(p.from, ROOM, 0, whole);
	}
	pair_close(p);
}

static void zerocopy(int rounds)
{
	struct pair p = pair_make(AF_INET, 0);
	int one = 1;

	check(setsockopt(p.to, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)), "SO_ZEROCOPY");
	for (int i = 0; i < rounds; i++) {
		give(p.to, BYTES, MSG_ZEROCOPY);
		take(p.from, ROOM, 0, BYTES);
		read_completion(p.to);
	}
	pair_close(p);
}

/* Pages of a file. */
static void filed(int rounds)
{
	struct pair p = pair_make(AF_INET, 0);
	int file = check(memfd_create("pages", 0), "memfd_create");

	check(write(file, buffer, BYTES), "write");
	for (int i = 0; i < rounds; i++) {
		off_t at = 0;

		check(sendfile(p.to, file, &at, BYTES) == BYTES ? 0 : -1, "sendfile");
		told.accepted += BYTES;
		told.tx_splice += BYTES;
		take(p.from, ROOM, 0, BYTES);
	}
	close(file);
	pair_close(p);
}

/* Awaited without a buffer, peeked at, then taken in part, with MSG_TRUNC and without. */
static void in_part(int rounds, bool told_whole)
{
	struct pair p = pair_make(AF_INET, 0);

	for (int i = 0; i < rounds; i++) {
		give(p.to, BYTES, 0);
		take(p.from, 0, MSG_PEEK, BYTES);
		take(p.from, BYTES, MSG_PEEK, BYTES);
		take(p.from, SHORT, i & 1 && told_whole ? MSG_TRUNC : 0, BYTES);
	}
	pair_close(p);
}

static void corked(int rounds)
{
	struct pair p = pair_make(AF_INET, 0);

	for (int i = 0; i < rounds; i++) {
		give(p.to, HELD, MSG_MORE);
		give(p.to, HELD, 0);
		take(p.from, ROOM, 0, 2 * HELD);
	}
	pair_close(p);
}

static void tell(void)
{
	printf("{\"accepted\": %lld, \"tx_reference\": %lld, \"tx_splice\": %lld, \"returned\": %lld, \"peeked\": %lld, "
	       "\"truncated\": %lld, \"zerocopy_sends\": %lld, \"unread\": %lld}\n", told.accepted, told.tx_reference,
	       told.tx_splice, told.returned, told.peeked, told.truncated, told.zerocopy_sends, told.unread);
	fflush(stdout);
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 23;
	struct pair p = pair_make(AF_INET, 0);

	pages = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(pages == MAP_FAILED ? -1 : 0, "mmap");
	memset(pages, 'z', ROOM);
	for (int i = 0; i < 3; i++)
		give(p.to, LEFT, 0);
	give(p.to, HELD, MSG_MORE);
	memset(&told, 0, sizeof(told));
	say_ready();
	if (!fgets(buffer, sizeof(buffer), stdin))
		return 0;
	give(p.to, HELD, 0);
	for (int i = 0; i < 3; i++)
		take(p.from, ROOM, 0, LEFT);
	take(p.from, ROOM, 0, 2 * HELD);
	plain(AF_INET, rounds);
	plain(AF_INET6, rounds);
	segmented(rounds, true);
	segmented(rounds, false);
	zerocopy(rounds);
	filed(rounds);
	in_part(rounds, argc <= 2);
	corked(rounds);
	for (int i = 0; i < 2; i++)
		give(p.to, LEFT, 0);
	told.unread = 2 * LEFT;
	tell();
	while (fgets(buffer, sizeof(buffer), stdin))
		;
	return 0;
}
