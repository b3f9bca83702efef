// SPDX-License-Identifier: GPL-2.0
/*
 * A program to watch, for guests without Python: sends and receives in every way that TCP has, over
 * connections to itself, and counts each byte.
 *
 * usage: traffic ROUNDS
 * Makes its rounds, prints "ready", waits for a line or the end of stdin, makes as many rounds again,
 * prints what it moved in each of the two parts as JSON, waits for the end of stdin. One thread does
 * all: while it waits no call is under way.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/guest/check.h"

/* All of a message fits into the socket, a pipe, the file. */
enum { MOST = 20000, LEFT_UNREAD = 100, WAIT_MS = 10000 };

enum way { COPY, ZEROCOPY, SENDFILE, SPLICE, WAYS };
enum taking { RECV, DISCARD, SPLICE_OUT, TAKINGS };

static const char *const way_names[] = { "tx_copy", "tx_reference", "tx_sendfile", "tx_splice" };
static const char *const taking_names[] = { "rx_copy", "rx_discard", "rx_splice" };

struct part {
	unsigned long sent[WAYS], taken[TAKINGS], zerocopy_sends;
};

struct pair {
	int from, to;
	unsigned int zerocopy_sends, completed;
	size_t unread;
};

static int pipe_ends[2], file, nowhere;
static char memory[MOST];
static struct part parts[2], *part = parts;

static void pair_open(struct pair *p, int listener)
{
	struct sockaddr_in address;
	socklen_t bytes = sizeof(address);
	int one = 1;

	check(getsockname(listener, (struct sockaddr *)&address, &bytes), "getsockname");
	p->from = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(p->from, (struct sockaddr *)&address, bytes), "connect");
	p->to = accept(listener, NULL, NULL);
	check(p->to, "accept");
	check(setsockopt(p->from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
	check(setsockopt(p->from, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)), "SO_ZEROCOPY");
}

/* Notifications that are there; waits for one if there is none. */
static void completions_read(struct pair *p)
{
	struct pollfd wait = { .fd = p->from };
	char control[128];
	struct msghdr message = { .msg_control = control };

	check(poll(&wait, 1, WAIT_MS) - 1, "no notification came");
	for (;;) {
		const struct sock_extended_err *e;

		message.msg_controllen = sizeof(control);
		if (recvmsg(p->from, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		e = (void *)CMSG_DATA(CMSG_FIRSTHDR(&message));
		p->completed += e->ee_data - e->ee_info + 1;
	}
}

static void send_one(struct pair *p, enum way way, size_t bytes)
{
	off_t start = 0;
	ssize_t sent = -1;

	switch (way) {
	case COPY:
		sent = send(p->from, memory, bytes, 0);
		break;
	case ZEROCOPY:
		sent = send(p->from, memory, bytes, MSG_ZEROCOPY);
		p->zerocopy_sends++;
		part->zerocopy_sends++;
		break;
	case SENDFILE:
		sent = sendfile(p->from, file, &start, bytes);
		break;
	default:
		check(write(pipe_ends[1], memory, bytes) - bytes, "write to the pipe");
		sent = splice(pipe_ends[0], NULL, p->from, NULL, bytes, 0);
	}
	check(sent, way_names[way]);
	part->sent[way] += sent;
	p->unread += sent;
	/* What is left in the pipe is sent, too. */
	for (size_t left = way == SPLICE ? bytes - sent : 0; left; left -= sent) {
		sent = splice(pipe_ends[0], NULL, p->from, NULL, left, 0);
		check(sent - 1, "splice");
		part->sent[way] += sent;
		p->unread += sent;
	}
}

static void take(struct pair *p, enum taking how, size_t leave)
{
	while (p->unread > leave) {
		size_t bytes = p->unread - leave < MOST ? p->unread - leave : MOST;
		ssize_t got;

		if (how == RECV)
			got = recv(p->to, memory, bytes, 0);
		else if (how == DISCARD)
			got = recv(p->to, memory, bytes, MSG_TRUNC);
		else
			got = splice(p->to, NULL, pipe_ends[1], NULL, bytes, 0);
		check(got - 1, taking_names[how]);
		part->taken[how] += got;
		p->unread -= got;
		if (how == SPLICE_OUT)
			check(splice(pipe_ends[0], NULL, nowhere, NULL, got, 0) - got, "splice to nowhere");
	}
}

/* Each pair has its way to send and to receive; the last one changes its own each time. */
static void rounds_make(struct pair *pairs, int rounds, unsigned int *seed)
{
	for (int i = 0; i < rounds; i++)
		for (int pair = 0; pair <= WAYS; pair++) {
			enum way way = pair < WAYS ? pair : i % WAYS;
			enum taking how = pair < WAYS ? pair % TAKINGS : i % TAKINGS;

			send_one(&pairs[pair], way, LEFT_UNREAD + rand_r(seed) % (MOST - LEFT_UNREAD));
			take(&pairs[pair], how, i % 2 ? 0 : LEFT_UNREAD);
		}
	for (int pair = 0; pair <= WAYS; pair++)
		while (pairs[pair].completed < pairs[pair].zerocopy_sends)
			completions_read(&pairs[pair]);
}

static void part_print(const char *name, const struct part *p)
{
	printf("\"%s\": {\"zerocopy_sends\": %lu", name, p->zerocopy_sends);
	for (int way = 0; way < WAYS; way++)
		printf(", \"%s\": %lu", way_names[way], p->sent[way]);
	for (int how = 0; how < TAKINGS; how++)
		printf(", \"%s\": %lu", taking_names[how], p->taken[how]);
	printf("}");
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0, listener = socket(AF_INET, SOCK_STREAM, 0);
	struct pair pairs[WAYS + 1] = {};
	unsigned int seed = 23;
	char line[64];

	check(listen(listener, 8), "listen");
	check(pipe(pipe_ends), "pipe");
	nowhere = open("/dev/null", O_WRONLY);
	file = memfd_create("file", 0);
	check(write(file, memory, sizeof(memory)), "write to the file");
	for (int pair = 0; pair <= WAYS; pair++)
		pair_open(&pairs[pair], listener);
	rounds_make(pairs, rounds, &seed);
	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		line[0] = '\0';
	part = &parts[1];
	rounds_make(pairs, rounds, &seed);
	printf("{");
	part_print("before", &parts[0]);
	printf(", ");
	part_print("window", &parts[1]);
	printf("}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
