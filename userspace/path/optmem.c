// SPDX-License-Identifier: GPL-2.0
/*
 * Limits net.core.optmem_max, which bounds the notifications of a socket, for one run alone.
 *
 * Since f5769faeec36 ("net: Namespace-ify sysctl_optmem_max") each namespace has its own. Before,
 * only the first namespace shows the file, and its value holds for the whole machine.
 */
#include "userspace/path/optmem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char limit[] = "/proc/sys/net/core/optmem_max";

static int limit_read(char *text, size_t size)
{
	int fd = open(limit, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	int err = n < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return err;
}

static int limit_write_to(int fd, const char *text)
{
	return fd < 0 || pwrite(fd, text, strlen(text), 0) < 0 ? -errno : 0;
}

static int limit_write(const char *text)
{
	int fd = open(limit, O_WRONLY | O_CLOEXEC), err = limit_write_to(fd, text);

	if (fd >= 0)
		close(fd);
	return err;
}

static int limit_machine(struct optmem *optmem, const char *text)
{
	char was[sizeof(optmem->was)];
	int err;

	if (!getenv("COPYSCOPE_GUEST")) {
		fprintf(stderr, "trace_run: --optmem: this kernel has one net.core.optmem_max for the "
			"whole machine, which a run must not change: add --kernel 6.12\n");
		return -EPERM;
	}
	err = limit_read(was, sizeof(was));
	if (err)
		return err;
	optmem->fd = open(limit, O_WRONLY | O_CLOEXEC);
	err = limit_write_to(optmem->fd, text);
	if (!err)
		strcpy(optmem->was, was);
	return err;
}

static int limit_namespaces(const struct path *path, const char *text)
{
	int err = 0;

	for (int e = 0; e < END_COUNT && !err; e++) {
		err = path_enter(path, e);
		if (!err)
			err = limit_write(text);
	}
	return path_leave(path) ? -errno : err;
}

int optmem_limit(struct optmem *optmem, const struct path *path, uint64_t bytes)
{
	char text[24];
	int err;

	if (!bytes)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	err = limit_namespaces(path, text);
	if (err == -ENOENT)
		return limit_machine(optmem, text);
	if (err)
		fprintf(stderr, "trace_run: cannot set net.core.optmem_max: %s\n", strerror(-err));
	return err;
}

void optmem_restore(struct optmem *optmem)
{
	if (*optmem->was && limit_write_to(optmem->fd, optmem->was))
		fprintf(stderr, "trace_run: cannot set net.core.optmem_max back to %s\n", optmem->was);
	*optmem->was = '\0';
}
