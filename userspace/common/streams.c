// SPDX-License-Identifier: GPL-2.0
/* Opens standard descriptors that are closed, and tells at exit what did not reach stdout. */
#include "userspace/common/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name;

void streams_open(void)
{
	/* To be read only, so that stdout refuses what is written to it. */
	static const int mode[] = { O_RDONLY, O_RDONLY, O_WRONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is this one. Where there is no /dev, the root will do. */
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
		/* What failed before has left no number. */
		err ? strerror(err) : "is its file system full?");
	_exit(1);
}

void streams_watch(const char *program)
{
	name = program;
	atexit(tell_lost);
}
