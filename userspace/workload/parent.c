// SPDX-License-Identifier: GPL-2.0
/* Let a parent attach its counters before anything is counted. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/workload/common/fail.h"
#include "userspace/workload/common/stop.h"
#include "userspace/workload/run.h"

static void parent_tell(int fd, unsigned int port)
{
	char line[32];
	int bytes = snprintf(line, sizeof(line), "ready %u\n", port);

	if (write(fd, line, bytes) != bytes)
		die("cannot write to --ready-fd %d: %s", fd, strerror(errno));
}

static int parent_await(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char byte;

	for (;;) {
		/* The parent sent the byte before the signal, so it has released us. */
		bool stop = stop_requested();
		ssize_t got;

		if (poll(&wait, 1, stop ? 0 : STOP_TICK_MS) <= 0) {
			if (stop)
				break;
			continue;
		}
		got = read(fd, &byte, 1);
		if (got == 1)
			return 0;
		if (got == 0)
			die("--go-fd %d was closed before the byte came", fd);
		if (errno != EINTR && errno != EAGAIN)
			die("cannot read --go-fd %d: %s", fd, strerror(errno));
	}
	complain("a signal ended it before it was released");
	return -1;
}

int parent_wait(const struct settings *settings, unsigned int port)
{
	if (settings->ready_fd >= 0)
		parent_tell(settings->ready_fd, port);
	return settings->go_fd >= 0 ? parent_await(settings->go_fd) : 0;
}
