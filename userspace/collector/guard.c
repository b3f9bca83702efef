// SPDX-License-Identifier: GPL-2.0
/* Waits for a run and for the end of its connection, and ends the run with that. */
#include "userspace/collector/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whoever asked says something every 10 s. A run that is told to end takes 2 s for it. */
enum { SILENT_MS = 60000, LEAVE_MS = 10000, CANNOT = 3 };

/* True if something came. */
static bool takes_word(void)
{
	char said[64];

	return read(STDIN_FILENO, said, sizeof(said)) > 0;
}

/* Until the child, of which @pidfd tells, has ended. */
static void await(pid_t child, int pidfd)
{
	struct pollfd events[] = { { .fd = pidfd, .events = POLLIN }, { .fd = STDIN_FILENO, .events = POLLIN } };
	int left_ms = SILENT_MS, urged = 0;

	for (;;) {
		int ready = poll(events, 2, left_ms);

		if (events[0].revents)
			return;
		if (ready > 0 && takes_word())
			continue;
		kill(child, urged++ ? SIGKILL : SIGINT);
		events[1].fd = -1;
		left_ms = LEAVE_MS;
	}
}

int guard_until_eof(int (*make)(int argc, char **argv), int argc, char **argv)
{
	pid_t parent = getpid(), child = fork();
	int pidfd, status, nothing;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		nothing = open("/dev/null", O_RDONLY);
		if (getppid() != parent || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
			_exit(CANNOT);
		exit(make(argc, argv));
	}
	pidfd = child < 0 ? -1 : syscall(SYS_pidfd_open, child, 0);
	if (pidfd < 0) {
		perror("copyscope-collect: cannot start the run");
		if (child > 0)
			kill(child, SIGKILL);
		return CANNOT;
	}
	await(child, pidfd);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT;
}
