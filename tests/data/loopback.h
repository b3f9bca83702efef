/* SPDX-License-Identifier: GPL-2.0 */
/* A connection of a program with itself, and the steps in which its test watches it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define APART __attribute__((noinline, noclone))

static int sender, receiver;

static void check(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static void connect_both(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(at);

	check(!bind(listener, (void *)&at, length) && !listen(listener, 1), "listen");
	getsockname(listener, (void *)&at, &length);
	sender = socket(AF_INET, SOCK_STREAM, 0);
	check(!connect(sender, (void *)&at, length), "connect");
	receiver = accept(listener, NULL, NULL);
	check(receiver >= 0, "accept");
}

/* The test has read what was said, and lets the program go on. */
static void go_on(void)
{
	char line[8];

	fflush(stdout);
	check(fgets(line, sizeof(line), stdin) != NULL, "stdin");
}
