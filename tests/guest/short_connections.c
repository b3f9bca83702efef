// SPDX-License-Identifier: GPL-2.0
/*
 * As many short TCP connections as the machine makes, and what their servers moved, at any moment.
 *
 * usage: short_connections SERVERS CLIENTS
 * Prints a line when its servers listen. Then it reads lines: "go" starts the clients, "stop" ends them, any
 * other says nothing. It answers each with one of JSON, the sums of all servers so far. It ends with stdin.
 * A server is called short-server, a client short-client.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check.h"

enum { REQUEST = 100, ANSWER = 1000, BACKLOG = 4096, PROCESSES_MOST = 64, PAUSE_US = 1000 };

struct sums {
	_Atomic unsigned long connections, returned, accepted;
	_Atomic int servers;
	atomic_bool stop;
};

static struct sums *sums;
static char memory[ANSWER];

static void serve_one(int fd)
{
	size_t asked = 0, answered = 0;
	ssize_t moved = 1;

	while (asked < REQUEST && moved > 0) {
		moved = recv(fd, memory, sizeof(memory), 0);
		asked += moved > 0 ? moved : 0;
	}
	while (answered < ANSWER && moved > 0) {
		moved = send(fd, memory, ANSWER - answered, MSG_NOSIGNAL);
		answered += moved > 0 ? moved : 0;
	}
	/* Before the client learns that this is the end. */
	sums->returned += asked;
	sums->accepted += answered;
	sums->connections++;
	close(fd);
}

static void serve(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0)
			serve_one(fd);
	}
}

static void ask(const struct sockaddr_in *to)
{
	while (!sums->stop) {
		int fd = check(socket(AF_INET, SOCK_STREAM, 0), "socket");

		if (!connect(fd, (const void *)to, sizeof(*to)) &&
		    send(fd, memory, REQUEST, MSG_NOSIGNAL) == REQUEST)
			while (recv(fd, memory, sizeof(memory), 0) > 0)
				;
		close(fd);
	}
	exit(0);
}

static void be(const char *name)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
}

static int listen_at(struct sockaddr_in *at)
{
	int listener = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
	socklen_t bytes = sizeof(*at);

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	check(bind(listener, (void *)at, bytes), "bind");
	check(listen(listener, BACKLOG), "listen");
	check(getsockname(listener, (void *)at, &bytes), "getsockname");
	return listener;
}

static void start_clients(int clients, int listener, const struct sockaddr_in *at)
{
	sums->stop = false;
	for (int i = 0; i < clients; i++)
		if (!check(fork(), "fork")) {
			be("short-client");
			close(listener);
			ask(at);
		}
}

static void stop_clients(int clients)
{
	sums->stop = true;
	for (int i = 0; i < clients; i++)
		wait(NULL);
}

int main(int argc, char **argv)
{
	int servers = argc == 3 ? atoi(argv[1]) : 0, clients = argc == 3 ? atoi(argv[2]) : 0;
	struct sockaddr_in at;
	char line[64] = "";
	int listener;

	if (servers < 1 || servers > PROCESSES_MOST || clients < 1 || clients > PROCESSES_MOST)
		return 2;
	sums = mmap(NULL, sizeof(*sums), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(sums == MAP_FAILED ? -1 : 0, "mmap");
	listener = listen_at(&at);
	for (int i = 0; i < servers; i++)
		if (!check(fork(), "fork")) {
			be("short-server");
			sums->servers++;
			serve(listener);
		}
	while (sums->servers < servers)
		usleep(PAUSE_US);
	do {
		if (!strcmp(line, "go\n"))
			start_clients(clients, listener, &at);
		if (!strcmp(line, "stop\n"))
			stop_clients(clients);
		printf("{\"connections\": %lu, \"returned\": %lu, \"accepted\": %lu}\n", sums->connections,
		       sums->returned, sums->accepted);
		fflush(stdout);
	} while (fgets(line, sizeof(line), stdin));
	return 0;
}
