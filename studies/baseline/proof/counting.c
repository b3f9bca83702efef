// SPDX-License-Identifier: GPL-2.0
/* Opens, starts and reads perf events of this process and its children. */
#include "studies/baseline/proof/counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "studies/baseline/proof/code.h"
#include "userspace/common/perf_open.h"

#define TRACEFS "/sys/kernel/tracing"

enum { FILTER_BYTES = 128 };

struct counting {
	int fd[EVENT_COUNT];
};

int counting_reach_tracefs(void)
{
	if (!access(TRACEFS "/events/sched", F_OK))
		return 0;
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("nodev", TRACEFS, "tracefs", 0, NULL))
		return -errno;
	return 0;
}

static uint64_t software_config(const char *name)
{
	if (!strcmp(name, "minor-faults"))
		return PERF_COUNT_SW_PAGE_FAULTS_MIN;
	if (!strcmp(name, "major-faults"))
		return PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	return PERF_COUNT_SW_PAGE_FAULTS;
}

static int read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = -1;

	if (!file)
		return -errno;
	if (fscanf(file, "%d", &number) != 1)
		number = -EIO;
	fclose(file);
	return number;
}

static int tracepoint_id(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), TRACEFS "/events/%s/id", name);
	return read_number(path);
}

/* What is counted: 0 or -errno. */
static int fill_attr(struct perf_event_attr *attr, enum event_id id, const void *function)
{
	const struct event *event = event_of(id);
	int number;

	if (!*event->tracepoint) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software_config(event->filter);
	} else if (!strcmp(event->tracepoint, "uprobe")) {
		int64_t offset = code_file_offset(function);

		number = read_number("/sys/bus/event_source/devices/uprobe/type");
		if (number < 0 || offset < 0)
			return number < 0 ? number : -EFAULT;
		attr->type = number;
		attr->uprobe_path = (uintptr_t)"/proc/self/exe";
		attr->probe_offset = offset;
	} else {
		number = tracepoint_id(event->tracepoint);
		if (number < 0)
			return number;
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = number;
	}
	return 0;
}

static int open_event(enum event_id id, const struct counting_of *of)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1, .inherit = 1 };
	char filter[FILTER_BYTES];
	int number = fill_attr(&attr, id, of->function), fd;

	if (number < 0)
		return number;
	fd = perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	event_filter(id, of->device, of->cpu, filter, sizeof(filter));
	if (*event_of(id)->tracepoint && *filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) {
		number = -errno;
		close(fd);
		return number;
	}
	return fd;
}

struct counting *counting_open(const bool wanted[EVENT_COUNT], const struct counting_of *of,
			       char *why, size_t why_bytes)
{
	struct counting *c = malloc(sizeof(*c));

	*why = '\0';
	if (!c)
		return NULL;
	for (int id = 0; id < EVENT_COUNT; id++) {
		const struct event *event = event_of(id);

		c->fd[id] = wanted[id] ? open_event(id, of) : -1;
		if (!wanted[id] || c->fd[id] >= 0 || *why)
			continue;
		snprintf(why, why_bytes, "cannot count %s (%s): %s%s", event->name,
			 *event->tracepoint ? event->tracepoint : event->filter,
			 strerror(-c->fd[id]), geteuid() ? "; run it with sudo" : "");
	}
	return c;
}

void counting_start(struct counting *c)
{
	if (c)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

void counting_stop(struct counting *c)
{
	if (c)
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

void counting_read(struct counting *c, double counted[EVENT_COUNT])
{
	for (int id = 0; id < EVENT_COUNT; id++) {
		uint64_t count;

		counted[id] = NAN;
		if (c && c->fd[id] >= 0 && read(c->fd[id], &count, sizeof(count)) == sizeof(count))
			counted[id] = count;
	}
}

void counting_close(struct counting *c)
{
	for (int id = 0; c && id < EVENT_COUNT; id++)
		if (c->fd[id] >= 0)
			close(c->fd[id]);
	free(c);
}
