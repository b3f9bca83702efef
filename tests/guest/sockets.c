// SPDX-License-Identifier: GPL-2.0
/*
 * Work over many sockets, to be timed with a watch and without: messages over connections that stay
 * open, datagrams, or connections that last for one message.
 *
 * usage: sockets copy|behind-file|stream|zerocopy|sendfile|datagrams SOCKETS BUSY MESSAGES BYTES, or sockets connect
 * CONNECTIONS
 * Opens its sockets, prints "ready", and for each line of stdin does its work once and prints how many
 * nanoseconds that took. Each message goes over one of the BUSY sockets in turn, is read, and answered by a byte,
 * before the next one; those of a stream, and of connections, have no answer, and a stream's are read together. What
 * lies behind a file has one sendfile() before it. One thread does all.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/guest/check.h"

/* Addresses are 127.0.0.1 and up: so each has few connections that wait for late packets. */
enum { BYTES = 64, BYTES_MAX = 65536, BURST = 100, ADDRESSES = 250, BACKLOG = 16, WAIT_MS = 10000, SPARE_DESCRIPTORS = 32 };

struct pair {
	int from, to;
};

static struct sockaddr_in listens;
static int listener;
static char memory[BYTES_MAX];

static int number(const char *word)
{
	char *end;
	long value = strtol(word, &end, 10);

	if (*end || value < 1 || value > 10000000) {
		fprintf(stderr, "sockets: '%s' is no number from 1 to 10000000\n", word);
		exit(2);
	}
	return value;
}

static struct pair datagram_pair_open(void)
{
	struct pair p = { socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET, SOCK_DGRAM, 0) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(to);

	check(bind(p.to, (struct sockaddr *)&to, bytes), "bind");
	check(getsockname(p.to, (struct sockaddr *)&to, &bytes), "getsockname");
	check(connect(p.from, (struct sockaddr *)&to, bytes), "connect");
	check(getsockname(p.from, (struct sockaddr *)&to, &bytes), "getsockname");
	check(connect(p.to, (struct sockaddr *)&to, bytes), "connect");
	return p;
}

static struct pair pair_open(int i)
{
	struct sockaddr_in to = listens;
	struct pair p;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i % ADDRESSES);
	p.from = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(p.from, (struct sockaddr *)&to, sizeof(to)), "connect");
	p.to = accept(listener, NULL, NULL);
	check(p.to, "accept");
	return p;
}

static void notification_read(int socket)
{
	struct pollfd wait = { .fd = socket };
	struct msghdr message = {};

	while (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		check(poll(&wait, 1, WAIT_MS) - 1, "no notification came");
}

static void message_pass(const struct pair *p, int bytes, int flags)
{
	check(send(p->from, memory, bytes, flags) - bytes, "send");
	check(recv(p->to, memory, bytes, MSG_WAITALL) - bytes, "recv");
}

static void file_pass(const struct pair *p, int file, int bytes)
{
	off_t from = 0;

	check(sendfile(p->from, file, &from, bytes) - bytes, "sendfile");
	check(recv(p->to, memory, bytes, MSG_WAITALL) - bytes, "recv");
}

static void answer(const struct pair *p)
{
	check(send(p->to, memory, 1, 0) - 1, "send");
	check(recv(p->from, memory, 1, 0) - 1, "recv");
}

/* Packets hold several messages, as those of a sender do that is faster than its network. */
static void stream_pass(const struct pair *p, int bytes, int messages)
{
	for (int i = 1; i <= messages; i++)
		check(send(p->from, memory, bytes, i < messages ? MSG_MORE : 0) - bytes, "send");
	check(recv(p->to, memory, messages * bytes, MSG_WAITALL) - messages * bytes, "recv");
}

static void connections_make(int count)
{
	for (int i = 0; i < count; i++) {
		struct pair p = pair_open(i);

		message_pass(&p, BYTES, 0);
		close(p.from);
		check(-recv(p.to, memory, BYTES, 0), "recv");
		close(p.to);
	}
}

/* What is done for each line. */
struct work {
	struct pair *pairs;	/* NULL: connections */
	int busy, count, bytes, flags, file;	/* file: 0 for none */
	bool datagrams, stream, behind_file;
};

/* Those that work lie between those that do not. */
static struct pair *pairs_open(int open, int busy, const struct work *w)
{
	struct pair *pairs = calloc(busy, sizeof(*pairs));
	struct rlimit most = { 2 * open + SPARE_DESCRIPTORS, 2 * open + SPARE_DESCRIPTORS };
	int one = 1;

	check(pairs ? setrlimit(RLIMIT_NOFILE, &most) : -1, "so many descriptors");
	for (int i = 0; i < open; i++) {
		struct pair p = w->datagrams ? datagram_pair_open() : pair_open(i);

		if (!w->datagrams) {
			check(setsockopt(p.from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
			check(setsockopt(p.to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
		}
		if (w->flags)
			check(setsockopt(p.from, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)), "SO_ZEROCOPY");
		if (i % (open / busy) == 0 && i / (open / busy) < busy)
			pairs[i / (open / busy)] = p;
	}
	return pairs;
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000l + now.tv_nsec;
}

static void listen_anywhere(void)
{
	socklen_t bytes = sizeof(listens);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	check(listen(listener, BACKLOG), "listen");
	check(getsockname(listener, (struct sockaddr *)&listens, &bytes), "getsockname");
}

static void work_do(const struct work *w)
{
	if (!w->pairs)
		return connections_make(w->count);
	if (w->behind_file)
		file_pass(w->pairs, w->file, w->bytes);
	for (int i = 0; w->stream && i < w->count; i += BURST)
		stream_pass(&w->pairs[i / BURST % w->busy], w->bytes, BURST);
	for (int i = 0; !w->stream && i < w->count; i++) {
		const struct pair *p = &w->pairs[i % w->busy];

		if (w->file && !w->behind_file)
			file_pass(p, w->file, w->bytes);
		else
			message_pass(p, w->bytes, w->flags);
		answer(p);
		/* The answer acknowledges the message; without it the receiver would wait before it does. */
		if (w->flags)
			notification_read(p->from);
	}
}

static void pairs_prepare(struct work *w, const char *sockets, const char *busy)
{
	int open = number(sockets) / 2;

	w->busy = number(busy) / 2;
	if (!w->busy || w->busy > open) {
		fprintf(stderr, "sockets: BUSY is at least 2 and at most SOCKETS\n");
		exit(2);
	}
	w->pairs = pairs_open(open, w->busy, w);
}

static int file_make(void)
{
	int file = memfd_create("file", 0);

	check(ftruncate(file, BYTES_MAX), "ftruncate");
	return file;
}

/* False if there is no such way. */
static bool way_read(struct work *w, int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	w->flags = strcmp(way, "zerocopy") ? 0 : MSG_ZEROCOPY;
	w->datagrams = !strcmp(way, "datagrams");
	w->stream = !strcmp(way, "stream");
	w->behind_file = !strcmp(way, "behind-file");
	w->file = w->behind_file || !strcmp(way, "sendfile") ? file_make() : 0;
	if (!strcmp(way, "connect"))
		return argc == 3;
	return argc == 6 && (w->flags || w->datagrams || w->stream || w->file || !strcmp(way, "copy"));
}

int main(int argc, char **argv)
{
	struct work work = {};
	char line[64];

	if (!way_read(&work, argc, argv)) {
		fprintf(stderr, "usage: sockets copy|behind-file|stream|zerocopy|sendfile|datagrams SOCKETS BUSY MESSAGES "
				"BYTES, or sockets connect CONNECTIONS\n");
		return 2;
	}
	work.count = number(argv[argc == 6 ? 4 : 2]);
	listen_anywhere();
	if (argc == 6) {
		work.bytes = number(argv[5]);
		check(work.bytes <= (work.stream ? BYTES_MAX / BURST : BYTES_MAX) ? 0 : -1, "so many bytes");
		pairs_prepare(&work, argv[2], argv[3]);
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long begun = now_ns();

		work_do(&work);
		printf("%ld\n", now_ns() - begun);
		fflush(stdout);
	}
	free(work.pairs);
	return 0;
}
