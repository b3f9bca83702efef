// SPDX-License-Identifier: GPL-2.0
/* A service of many processes: each holds one end of a TCP connection, and sends and reads now and then, until stdin ends. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BYTES = 1000, EVERY_MS = 10000 };

static void live(int own, int number)
{
	char bytes[BYTES] = "";
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = own, .events = POLLIN } };
	int wait_ms = number * 997 % EVERY_MS;

	for (;; wait_ms = EVERY_MS) {
		if (poll(fds, 1, wait_ms))
			_exit(0);
		if (write(own, bytes, sizeof(bytes)) < 0)
			_exit(1);
		while (recv(own, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int count = atoi(argv[1]), listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(at);
	int *ends = calloc(count + 1, sizeof(*ends));

	if (listener < 0 || bind(listener, (void *)&at, length) || listen(listener, count) ||
	    getsockname(listener, (void *)&at, &length))
		return 1;
	for (int i = 0; i < count; i += 2) {
		ends[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(ends[i], (void *)&at, length) || (ends[i + 1] = accept(listener, NULL, NULL)) < 0)
			return 1;
	}
	for (int i = 0; i < count; i++) {
		int child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			prctl(PR_SET_PDEATHSIG, 9);
			for (int j = 0; j < count; j++)
				if (j != i)
					close(ends[j]);
			close(listener);
			live(ends[i], i);
		}
	}
	for (int i = 0; i < count; i++)
		close(ends[i]);
	puts("ready");
	fflush(stdout);
	/* A process that reads would take what ends the others. */
	poll(&(struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN }, 1, -1);
	return 0;
}
