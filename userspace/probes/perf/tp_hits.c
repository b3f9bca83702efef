// SPDX-License-Identifier: GPL-2.0
/* One perf counter per tracepoint and CPU. */
#include "userspace/probes/perf/tp_hits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/common/numbers.h"
#include "userspace/common/perf_open.h"

enum { AHEAD_TRIES = 1000, AHEAD_READINGS = 9 };

struct tp_hits {
	int count, cpus;
	int *fds;	/* count x cpus */
};

static int read_ids(const char *const *names, int count, uint64_t *ids)
{
	for (int i = 0; i < count; i++) {
		char path[256];

		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", names[i]);
		/* The kernel numbers tracepoints from 1. */
		ids[i] = number_in_file(path, 0);
		if (!ids[i])
			return -1;
	}
	return 0;
}

/* If tracefs is not mounted, a child mounts it in its own mount namespace and passes the numbers
 * on. */
static int read_ids_privately(const char *const *names, int count, uint64_t *ids)
{
	ssize_t want = count * sizeof(*ids), got;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		if (!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
		    !mount("nodev", "/sys/kernel/tracing", "tracefs", 0, NULL) &&
		    !read_ids(names, count, ids) && write(fds[1], ids, want) == want)
			_exit(0);
		_exit(1);
	}
	close(fds[1]);
	got = pid > 0 ? read(fds[0], ids, want) : -1;
	close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return got == want ? 0 : -1;
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
	if (read_ids(names, count, ids) && read_ids_privately(names, count, ids))
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

uint64_t tp_hits_read(const struct tp_hits *hits, int i)
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
		by_perf = tp_hits_read(hits, i);
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
