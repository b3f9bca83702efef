// SPDX-License-Identifier: GPL-2.0
/* One perf counter per tracepoint and CPU. */
#include "userspace/engine/tp_hits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "userspace/common/perf_open.h"

enum { AHEAD_TRIES = 1000, AHEAD_READINGS = 9 };

struct tp_hits {
	int count, cpus;
	int *fds;	/* count x cpus */
};

/* Where tracefs is not mounted, mounts it nowhere: a mount namespace of one's own would do, but in a chroot
 * that is no mount point its mounts cannot be made private. */
static int tracefs_open(void)
{
	int fd = open("/sys/kernel/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC), context;

	if (fd >= 0 && !faccessat(fd, "events", F_OK, 0))
		return fd;
	if (fd >= 0)
		close(fd);
	context = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	fd = fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) ? -1 :
		     fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	close(context);
	return fd;
}

/* 0 if it cannot be read: the kernel numbers tracepoints from 1. */
static uint64_t id_read(int tracefs, const char *name)
{
	char path[256], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "events/%s/id", name);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoull(text, NULL, 10);
}

static int read_ids(const char *const *names, int count, uint64_t *ids)
{
	int tracefs = tracefs_open(), known = 0;

	if (tracefs < 0)
		return -1;
	while (known < count && (ids[known] = id_read(tracefs, names[known])))
		known++;
	close(tracefs);
	return known == count ? 0 : -1;
}

static int counter_open(uint64_t id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id, .disabled = 1,
	};

	return perf_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

struct tp_hits *tp_hits_open(const char *const *names, int count)
{
	struct tp_hits *hits = calloc(1, sizeof(*hits));
	uint64_t ids[TP_HITS_MAX] = {};

	if (!hits)
		return NULL;
	hits->count = count;
	hits->cpus = sysconf(_SC_NPROCESSORS_CONF);
	hits->fds = malloc(sizeof(int) * count * hits->cpus);
	if (!hits->fds)
		goto fail;
	memset(hits->fds, -1, sizeof(int) * count * hits->cpus);
	if (read_ids(names, count, ids))
		goto fail;
	for (int i = 0; i < count * hits->cpus; i++) {
		hits->fds[i] = counter_open(ids[i / hits->cpus], i % hits->cpus);
		/* ENODEV: that CPU is offline, and nothing is hit there. */
		if (hits->fds[i] < 0 && errno != ENODEV)
			goto fail;
	}
	return hits;
fail:
	tp_hits_close(hits);
	return NULL;
}

void tp_hits_start(struct tp_hits *hits, int i)
{
	for (int cpu = 0; cpu < hits->cpus; cpu++)
		ioctl(hits->fds[i * hits->cpus + cpu], PERF_EVENT_IOC_ENABLE, 0);
}

/* Hits of names[i] on all CPUs since tp_hits_start. */
static uint64_t hits_read(const struct tp_hits *hits, int i)
{
	uint64_t sum = 0, value;

	for (int cpu = 0; cpu < hits->cpus; cpu++)
		if (read(hits->fds[i * hits->cpus + cpu], &value, sizeof(value)) == sizeof(value))
			sum += value;
	return sum;
}

/* Read until no hit came in between: packets of other programs never stop. */
static int64_t ahead_once(const struct tp_hits *hits, int i, uint64_t (*seen)(const void *arg, int i),
			  const void *arg)
{
	uint64_t by_program = 0, by_perf = 0;

	for (int tries = 0; tries < AHEAD_TRIES; tries++) {
		by_program = seen(arg, i);
		by_perf = hits_read(hits, i);
		if (by_program == seen(arg, i))
			break;
	}
	return by_perf - by_program;
}

/* A hit between perf's handler and the program shifts one reading: take the median. */
int64_t tp_hits_ahead(const struct tp_hits *hits, int i, uint64_t (*seen)(const void *arg, int i),
		      const void *arg)
{
	int64_t sorted[AHEAD_READINGS];

	for (int n = 0; n < AHEAD_READINGS; n++) {
		int64_t ahead = ahead_once(hits, i, seen, arg);
		int at = n;

		for (; at > 0 && sorted[at - 1] > ahead; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = ahead;
	}
	return sorted[AHEAD_READINGS / 2];
}

void tp_hits_close(struct tp_hits *hits)
{
	if (!hits)
		return;
	for (int i = 0; hits->fds && i < hits->count * hits->cpus; i++)
		if (hits->fds[i] >= 0)
			close(hits->fds[i]);
	free(hits->fds);
	free(hits);
}
