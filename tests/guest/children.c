// SPDX-License-Identifier: GPL-2.0
/*
 * Many children, one after the other, each collected before the next one begins.
 *
 * usage: children COUNT EVERY
 * Prints "ready", and begins with the next line of stdin. One child of EVERY opens a connection to itself, sends
 * 100 bytes and reads them. Then it prints "done" and ends with stdin.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check.h"

enum { BYTES = 100 };

static void move_bytes(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
	int from = check(socket(AF_INET, SOCK_STREAM, 0), "socket"), to;
	socklen_t size = sizeof(at);
	char memory[BYTES] = "";

	check(bind(listener, (void *)&at, size), "bind");
	check(listen(listener, 1), "listen");
	check(getsockname(listener, (void *)&at, &size), "getsockname");
	check(connect(from, (void *)&at, size), "connect");
	to = check(accept(listener, NULL, NULL), "accept");
	check(send(from, memory, BYTES, 0), "send");
	check(recv(to, memory, BYTES, MSG_WAITALL), "recv");
}

/* Prints @word; false once stdin has ended. */
static int say(const char *word)
{
	char line[16];

	puts(word);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0, every = argc == 3 ? atoi(argv[2]) : 0;

	if (count < 1 || every < 1)
		return 2;
	if (!say("ready"))
		return 0;
	for (int i = 0; i < count; i++) {
		pid_t child = check(fork(), "fork");

		if (!child) {
			if (i % every == 0)
				move_bytes();
			_exit(0);
		}
		check(waitpid(child, NULL, 0), "waitpid");
	}
	say("done");
	return 0;
}
