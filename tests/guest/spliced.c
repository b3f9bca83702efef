// SPDX-License-Identifier: GPL-2.0
/*
 * Sends pages of a file from one network namespace to another: a program that splices, for paths that
 * somebody else has made.
 *
 * usage: spliced SENDER RECEIVER MESSAGES BYTES
 * SENDER and RECEIVER are processes in the two namespaces. The sender listens on the address that its
 * namespace has, and sends each message by sendfile(); a process of its own receives all by recv().
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guest/check.h"

static int namespace_of(const char *process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/net", process);
	return check(open(path, O_RDONLY | O_CLOEXEC), path);
}

static bool is_reachable(const struct ifaddrs *a)
{
	if (!a->ifa_addr)
		return false;
	if (a->ifa_addr->sa_family == AF_INET6)
		return !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr);
	return a->ifa_addr->sa_family == AF_INET;
}

/* That of a device that leads elsewhere, before one of loopback. */
static void own_address(struct sockaddr_storage *address)
{
	struct ifaddrs *all, *found = NULL;

	check(getifaddrs(&all), "getifaddrs");
	for (struct ifaddrs *a = all; a; a = a->ifa_next)
		if (is_reachable(a) && (!found || found->ifa_flags & IFF_LOOPBACK))
			found = a;
	check(found ? 0 : -1, "an address of the sender");
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ifa_addr, found->ifa_addr->sa_family == AF_INET6 ?
	       sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
	freeifaddrs(all);
}

static void receive_all(const struct sockaddr_storage *from, size_t bytes)
{
	static char memory[65536];
	int end = check(socket(from->ss_family, SOCK_STREAM, 0), "socket");

	check(connect(end, (const struct sockaddr *)from, sizeof(*from)), "connect");
	while (bytes)
		bytes -= check(recv(end, memory, sizeof(memory), 0) - 1, "recv") + 1;
	close(end);
}

static void send_all(int listener, int messages, size_t bytes)
{
	int end = check(accept(listener, NULL, NULL), "accept"), file = memfd_create("file", 0);

	check(ftruncate(file, bytes), "ftruncate");
	for (int i = 0; i < messages; i++)
		for (off_t at = 0; at < (off_t)bytes;)
			check(sendfile(end, file, &at, bytes - at) - 1, "sendfile");
	close(end);
}

int main(int argc, char **argv)
{
	int messages = argc == 5 ? atoi(argv[3]) : 0, listener, here, there, status;
	size_t bytes = argc == 5 ? atol(argv[4]) : 0;
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	check(messages - 1, "usage: spliced SENDER RECEIVER MESSAGES BYTES");
	here = namespace_of(argv[1]);
	there = namespace_of(argv[2]);
	check(setns(here, CLONE_NEWNET), "setns of the sender");
	own_address(&address);
	listener = check(socket(address.ss_family, SOCK_STREAM, 0), "socket");
	check(bind(listener, (struct sockaddr *)&address, sizeof(address)), "bind");
	check(listen(listener, 1), "listen");
	check(getsockname(listener, (struct sockaddr *)&address, &size), "getsockname");
	if (!check(fork(), "fork")) {
		check(setns(there, CLONE_NEWNET), "setns of the receiver");
		receive_all(&address, messages * bytes);
		return 0;
	}
	send_all(listener, messages, bytes);
	check(wait(&status), "wait");
	return status ? 1 : 0;
}
