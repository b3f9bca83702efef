// SPDX-License-Identifier: GPL-2.0
/*
 * Sends by reference and waits, after each send, until the kernel gives its memory back: what rsync#7600 and
 * compio#771 describe.
 *
 * usage: waits ring|flag SENDS BYTES
 * Sends over loopback, by IORING_OP_SEND_ZC or by MSG_ZEROCOPY, to a child that reads all and answers the first sends: a conversation,
 * in which TCP delays acknowledgements. Prints one line of JSON: how long it waited for notifications in all, and
 * the longest such wait.
 */
#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/guest/check.h"

enum { NS_PER_S = 1000000000, READ_BYTES = 1 << 16, ANSWERS = 8 };

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * (long long)NS_PER_S + now.tv_nsec;
}

static void read_all(int listener)
{
	static char memory[READ_BYTES];
	int from = check(accept(listener, NULL, NULL), "accept");

	for (int i = 0; check(read(from, memory, sizeof(memory)), "read"); i++)
		if (i < ANSWERS)
			check(write(from, "", 1), "write");
	exit(0);
}

/* A connection to a child that reads whatever comes. */
static int connected(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
	int to = check(socket(AF_INET, SOCK_STREAM, 0), "socket"), one = 1;
	socklen_t bytes = sizeof(at);

	check(bind(listener, (struct sockaddr *)&at, bytes), "bind");
	check(listen(listener, 1), "listen");
	check(getsockname(listener, (struct sockaddr *)&at, &bytes), "getsockname");
	if (!check(fork(), "fork")) {
		close(to);
		read_all(listener);
	}
	check(connect(to, (struct sockaddr *)&at, bytes), "connect");
	check(setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
	close(listener);
	return to;
}

/* Returns what the completion says. */
static int taken(struct io_uring *ring, unsigned int *flags)
{
	struct io_uring_cqe *cqe;
	int result;

	check(io_uring_wait_cqe(ring, &cqe), "io_uring_wait_cqe");
	result = cqe->res;
	*flags = cqe->flags;
	io_uring_cqe_seen(ring, cqe);
	return result;
}

/* Returns how many bytes were accepted, and whether a notification is to come. */
static int accepted(struct io_uring *ring, int to, const char *memory, size_t bytes, bool *more)
{
	unsigned int flags;
	int sent;

	if (!ring) {
		*more = true;
		return check(send(to, memory, bytes, MSG_ZEROCOPY), "send");
	}
	io_uring_prep_send_zc(io_uring_get_sqe(ring), to, memory, bytes, 0, 0);
	check(io_uring_submit(ring), "io_uring_submit");
	sent = taken(ring, &flags);
	if (sent < 0)
		errx(1, "IORING_OP_SEND_ZC fails with error %d", -sent);
	*more = flags & IORING_CQE_F_MORE;
	return sent;
}

static void wait_for_notification(struct io_uring *ring, int to)
{
	struct pollfd errors = { .fd = to };
	struct msghdr notification = {};
	unsigned int flags;

	if (ring) {
		taken(ring, &flags);
		return;
	}
	check(poll(&errors, 1, -1), "poll");
	check(recvmsg(to, &notification, MSG_ERRQUEUE), "recvmsg");
}

/* Sends all of it once. Returns for how long it waited for the memory. */
static long long send_and_wait(struct io_uring *ring, int to, const char *memory, size_t bytes)
{
	long long waited_ns = 0, began_ns;
	bool more;

	for (size_t at = 0; at < bytes;) {
		at += accepted(ring, to, memory + at, bytes - at, &more);
		began_ns = now_ns();
		if (more)
			wait_for_notification(ring, to);
		waited_ns += now_ns() - began_ns;
	}
	return waited_ns;
}

int main(int argc, char **argv)
{
	bool by_ring = argc == 4 && !strcmp(argv[1], "ring"), by_flag = argc == 4 && !strcmp(argv[1], "flag");
	int sends = argc == 4 ? atoi(argv[2]) : 0, one = 1, to;
	size_t bytes = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	long long waited_ns = 0, longest_ns = 0, began_ns;
	char *memory = calloc(1, bytes + 1), answer;
	struct io_uring ring;

	if (by_ring == by_flag || sends < 1 || !bytes || !memory)
		errx(2, "usage: waits ring|flag SENDS BYTES");
	to = connected();
	if (by_ring && io_uring_queue_init(4, &ring, 0))
		errx(1, "the system refuses io_uring");
	check(setsockopt(to, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)), "SO_ZEROCOPY");
	began_ns = now_ns();
	for (int i = 0; i < sends; i++) {
		long long this_ns = send_and_wait(by_ring ? &ring : NULL, to, memory, bytes);

		if (i < ANSWERS)
			check(read(to, &answer, 1), "read");
		waited_ns += this_ns;
		longest_ns = this_ns > longest_ns ? this_ns : longest_ns;
	}
	printf("{\"sends\": %d, \"bytes\": %zu, \"waited_s\": %.6f, \"longest_s\": %.6f, \"seconds\": %.6f}\n", sends,
	       sends * bytes, waited_ns / 1e9, longest_ns / 1e9, (now_ns() - began_ns) / 1e9);
	close(to);
	wait(NULL);
	return 0;
}
