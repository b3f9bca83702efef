// SPDX-License-Identifier: GPL-2.0
/* Opens standard descriptors that are closed, and reports at exit what did not reach stdout. */
#include "userspace/common/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name;

void streams_open(void)
{
	/* Read-only, so that writing to stdout still fails. */
	static const int mode[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* open() returns the lowest free number, which is this one. Without /dev the root
		 * folder will do. */
		if (open("/dev/null", mode[fd]) < 0)
			open("/", O_PATH);
	}
}

static void tell_lost(void)
{
	int err = fflush(stdout) ? errno : 0;

	if ((!err && !ferror(stdout)) || err == EPIPE)
		return;
	fprintf(stderr, "%s: cannot write to stdout: %s\n", name,
		/* An earlier failure left no errno. */
		err ? strerror(err) : "is its file system full?");
	_exit(1);
}

/* A handler, as what is executed later is to die of it. */
static void told_by_errno(int signal)
{
}

void streams_watch(const char *program)
{
	struct sigaction action = {};

	name = program;
	if (!sigaction(SIGXFSZ, NULL, &action) && action.sa_handler == SIG_DFL)
		signal(SIGXFSZ, told_by_errno);
	atexit(tell_lost);
}

void streams_write_whole(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (sigaction(numbers[i], NULL, &action) || action.sa_handler == SIG_DFL ||
		    action.sa_handler == SIG_IGN)
			continue;
		action.sa_flags |= SA_RESTART;
		sigaction(numbers[i], &action, NULL);
	}
}
