// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what comes to a port of 127.0.0.1 and answers nothing.
 *
 * usage: sink PORT
 * Prints "ready", and on SIGTERM how many bytes it has read from all connections.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/guest/check.h"

enum { CONNECTIONS_MAX = 64 };
enum { SIGNALS, LISTENER, FIRST };

static struct pollfd fds[FIRST + CONNECTIONS_MAX];
static int count = FIRST;

static int open_listener(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = check(socket(AF_INET, SOCK_STREAM, 0), "socket");

	check(bind(fd, (struct sockaddr *)&at, sizeof(at)), "bind");
	check(listen(fd, CONNECTIONS_MAX), "listen");
	return fd;
}

static int open_signals(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return check(signalfd(-1, &ends, 0), "signalfd");
}

/* What a connection has; one that has ended is not looked at again. */
static unsigned long read_some(struct pollfd *from)
{
	char memory[4096];
	ssize_t got = read(from->fd, memory, sizeof(memory));

	if (got > 0)
		return got;
	close(from->fd);
	from->fd = -1;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long bytes = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: sink PORT\n");
		return 2;
	}
	fds[SIGNALS] = (struct pollfd){ open_signals(), POLLIN, 0 };
	fds[LISTENER] = (struct pollfd){ open_listener(atoi(argv[1])), POLLIN, 0 };
	printf("ready\n");
	fflush(stdout);
	while (poll(fds, count, -1) > 0) {
		for (int i = FIRST; i < count; i++)
			if (fds[i].revents)
				bytes += read_some(&fds[i]);
		if (fds[LISTENER].revents && count < FIRST + CONNECTIONS_MAX)
			fds[count++] = (struct pollfd){ accept(fds[LISTENER].fd, NULL, NULL), POLLIN, 0 };
		else if (fds[SIGNALS].revents)
			break;
	}
	printf("%lu\n", bytes);
	return 0;
}
