// SPDX-License-Identifier: GPL-2.0
/* Sends from a member function of a template in a namespace: its name is to be told as it is written here. */
#include <arpa/inet.h>
#include <cstdio>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

enum { PRIME = 4093, ROUNDS = 23 };

static volatile long moved;

namespace harbour {
template <typename T> struct Ship {
	std::vector<T> cargo = std::vector<T>(PRIME);

	__attribute__((noinline)) void unload(int fd)
	{
		moved += send(fd, cargo.data(), PRIME, 0);
	}
};
}

int main()
{
	sockaddr_in at = {};
	socklen_t length = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), sender = socket(AF_INET, SOCK_STREAM, 0);
	harbour::Ship<char> ship;
	char line[8];

	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, reinterpret_cast<sockaddr *>(&at), length) || listen(listener, 1) ||
	    getsockname(listener, reinterpret_cast<sockaddr *>(&at), &length) ||
	    connect(sender, reinterpret_cast<sockaddr *>(&at), length))
		return 1;
	std::puts("ready");
	std::fflush(stdout);
	if (!std::fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		ship.unload(sender);
	std::puts("done");
	std::fflush(stdout);
	return std::fgets(line, sizeof(line), stdin) ? 0 : 1;
}
