// SPDX-License-Identifier: GPL-2.0
// Opens, starts, reads and closes the events of one process.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/common/perf_open.h"
#include "userspace/counters/counters.h"
#include "userspace/counters/events.h"
#include "userspace/counters/sum.h"

#ifndef PERF_PMU_TYPE_SHIFT	/* kernel headers before 5.13 */
#define PERF_PMU_TYPE_SHIFT 32
#endif

struct open_part {
	int fd;				/* -1: see why */
	char pmu[COUNTER_PMU_BYTES];
	char why[COUNTER_WHY_BYTES];
};

struct open_event {
	unsigned int parts;
	struct open_part part[COUNTER_PARTS_MAX];
};

struct counter_set {
	struct counter_env env;
	unsigned int pmus;
	struct core_pmu pmu[COUNTER_PARTS_MAX];
	struct open_event event[COUNTER_COUNT];
};

static int perf_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

/*
 * Always counts the kernel's part: most of a copy's cost lies in the kernel, and a reader would
 * take a user-only number under the same name for the whole.
 */
static int part_open(struct counter_set *set, enum counter_event event, pid_t pid,
		     struct open_part *part, uint32_t pmu_type)
{
	const struct event_spec *spec = event_spec(event);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = spec->type,
		.config = spec->config | (uint64_t)pmu_type << PERF_PMU_TYPE_SHIFT,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = 1,
		.exclude_hv = 1,
	};

	part->fd = set->env.open(&attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (part->fd >= 0)
		return 0;
	if (errno == ESRCH)
		return -ESRCH;
	event_refusal(part->why, errno);
	return 0;
}

static void part_name(struct open_part *part, const char *pmu)
{
	part->fd = -1;
	memccpy(part->pmu, pmu, '\0', sizeof(part->pmu) - 1);
}

static int event_open_per_pmu(struct counter_set *set, enum counter_event event, pid_t pid)
{
	struct open_event *open = &set->event[event];
	int err = 0;

	for (open->parts = 0; open->parts < set->pmus && !err; open->parts++) {
		struct open_part *part = &open->part[open->parts];

		part_name(part, set->pmu[open->parts].name);
		err = part_open(set, event, pid, part, set->pmu[open->parts].type);
	}
	return err;
}

static int event_open(struct counter_set *set, enum counter_event event, pid_t pid)
{
	bool hardware = event_is_hardware(event);
	struct open_event *open = &set->event[event];

	if (hardware && set->pmus > 1 && set->pmus <= COUNTER_PARTS_MAX)
		return event_open_per_pmu(set, event, pid);
	open->parts = 1;
	if (hardware && set->pmus > COUNTER_PARTS_MAX) {
		part_name(&open->part[0], "cpu");
		snprintf(open->part[0].why, COUNTER_WHY_BYTES,
			 "this machine has %u kinds of core, copyscope handles at most %d",
			 set->pmus, COUNTER_PARTS_MAX);
		return 0;
	}
	/* A single PMU takes the plain event, which kernels before 5.13 understand too. */
	part_name(&open->part[0], !hardware ? "software" : set->pmus ? set->pmu[0].name : "cpu");
	return part_open(set, event, pid, &open->part[0], 0);
}

/* procfs counts threads in the link count of this directory, on top of the usual 2. */
static bool process_has_threads(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return !stat(path, &st) && st.st_nlink > 3;
}

int counters_open(struct counter_set **out, pid_t pid, const struct counter_env *env)
{
	struct counter_set *set;
	int event, err = 0;

	*out = NULL;
	if (pid < 1)
		return -EINVAL;
	/* Checked here: without privilege the kernel refuses before it looks for the process. */
	if (kill(pid, 0) && errno == ESRCH)
		return -ESRCH;
	if (process_has_threads(pid))
		return -EBUSY;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	if (env)
		set->env = *env;
	if (!set->env.sysfs_root)
		set->env.sysfs_root = "/sys";
	if (!set->env.open)
		set->env.open = perf_open;
	if (!set->env.enable)
		set->env.enable = perf_enable;
	set->pmus = core_pmus_find(set->env.sysfs_root, set->pmu);
	for (event = 0; event < COUNTER_COUNT && !err; event++)
		err = event_open(set, event, pid);
	if (err)
		counters_close(set);
	else
		*out = set;
	return err;
}

void counters_close(struct counter_set *set)
{
	unsigned int i;
	int event;

	if (!set)
		return;
	for (event = 0; event < COUNTER_COUNT; event++)
		for (i = 0; i < set->event[event].parts; i++)
			if (set->event[event].part[i].fd >= 0)
				close(set->event[event].part[i].fd);
	free(set);
}

static int part_enable(struct counter_set *set, struct open_part *part)
{
	int err;

	if (part->fd < 0 || !set->env.enable(part->fd))
		return 0;
	err = -errno;
	snprintf(part->why, sizeof(part->why), "could not be started: %s", strerror(-err));
	return err;
}

int counters_enable(struct counter_set *set)
{
	int event, err, first = 0;
	unsigned int i;

	for (event = 0; event < COUNTER_COUNT; event++) {
		for (i = 0; i < set->event[event].parts; i++) {
			err = part_enable(set, &set->event[event].part[i]);
			first = first ? first : err;
		}
	}
	return first;
}

static void part_read(const struct open_part *part, struct counter_reading *reading)
{
	uint64_t raw[3] = { 0 };	/* the order PERF_FORMAT_* prescribes */
	ssize_t got;

	*reading = (struct counter_reading){ 0 };
	memcpy(reading->pmu, part->pmu, sizeof(reading->pmu));
	memcpy(reading->why, part->why, sizeof(reading->why));
	if (part->why[0])
		return;
	got = read(part->fd, raw, sizeof(raw));
	if (got != sizeof(raw)) {
		snprintf(reading->why, sizeof(reading->why), "could not be read: %s",
			 got < 0 ? strerror(errno) : "the kernel gave up counting it");
		return;
	}
	reading->count = raw[0];
	reading->enabled_ns = raw[1];
	reading->running_ns = raw[2];
}

int counters_read(struct counter_set *set, struct counter_value values[COUNTER_COUNT])
{
	struct counter_reading readings[COUNTER_PARTS_MAX] = { 0 };
	unsigned int i;
	int event;

	for (event = 0; event < COUNTER_COUNT; event++) {
		struct open_event *open = set ? &set->event[event] : NULL;

		if (!open) {
			values[event] = (struct counter_value){ .why = "was never opened" };
			continue;
		}
		for (i = 0; i < open->parts; i++)
			part_read(&open->part[i], &readings[i]);
		counter_sum(event, readings, open->parts, &values[event]);
	}
	counter_doubt(values);
	return set ? 0 : -EINVAL;
}
