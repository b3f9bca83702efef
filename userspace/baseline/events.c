// SPDX-License-Identifier: GPL-2.0
/* Opens, starts and reads perf events beside a benchmark. */
#include "userspace/baseline/events.h"

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
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/baseline/bench.h"
#include "userspace/baseline/code.h"

#define TRACEFS "/sys/kernel/tracing"

enum { FILTER_BYTES = 128 };

static const struct {
	const char *name, *tracepoint, *filter;
} table[] = {
#define X(id, name, tracepoint, filter) { name, tracepoint, filter },
	EVENTS(X)
#undef X
};

struct counters {
	int fd[EVENT_COUNT];
};

const char *event_name(enum event_id id)
{
	return table[id].name;
}

int tracefs_reach(void)
{
	if (!access(TRACEFS "/events/sched", F_OK))
		return 0;
	if (unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) ||
	    mount("nodev", TRACEFS, "tracefs", 0, NULL))
		return -errno;
	return 0;
}

static int syscall_number(const char *name, size_t len)
{
	static const struct {
		const char *name;
		int number;
	} known[] = {
		{ "prctl", SYS_prctl }, { "getuid", SYS_getuid }, { "sendto", SYS_sendto },
		{ "recvfrom", SYS_recvfrom }, { "read", SYS_read }, { "pread64", SYS_pread64 },
		{ "write", SYS_write }, { "futex", SYS_futex }, { "connect", SYS_connect },
		{ "sendmsg", SYS_sendmsg },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == len && !strncmp(known[i].name, name, len))
			return known[i].number;
	abort();
}

/* "%name" becomes the number of that system call, "@" the device, "#" the CPU. */
static void fill_filter(const char *from, const char *device, char *to, size_t size)
{
	size_t used = 0;

	for (*to = '\0'; *from && used < size; from++) {
		if (*from == '@') {
			used += snprintf(to + used, size - used, "%s", device);
		} else if (*from == '#') {
			used += snprintf(to + used, size - used, "%d", work_cpu(0));
		} else if (*from == '%') {
			size_t len = strspn(from + 1, "abcdefghijklmnopqrstuvwxyz0123456789");

			used += snprintf(to + used, size - used, "%d",
					 syscall_number(from + 1, len));
			from += len;
		} else {
			used += snprintf(to + used, size - used, "%c", *from);
		}
	}
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
	int number;

	if (!*table[id].tracepoint) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software_config(table[id].filter);
	} else if (!strcmp(table[id].tracepoint, "uprobe")) {
		int64_t offset = code_file_offset(function);

		number = read_number("/sys/bus/event_source/devices/uprobe/type");
		if (number < 0 || offset < 0)
			return number < 0 ? number : -EFAULT;
		attr->type = number;
		attr->uprobe_path = (uintptr_t)"/proc/self/exe";
		attr->probe_offset = offset;
	} else {
		number = tracepoint_id(table[id].tracepoint);
		if (number < 0)
			return number;
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = number;
	}
	return 0;
}

static int open_event(enum event_id id, const char *device, const void *function)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1, .inherit = 1 };
	char filter[FILTER_BYTES];
	int number = fill_attr(&attr, id, function), fd;

	if (number < 0)
		return number;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	fill_filter(table[id].filter, device, filter, sizeof(filter));
	if (*table[id].tracepoint && *filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) {
		number = -errno;
		close(fd);
		return number;
	}
	return fd;
}

struct counters *counters_beside(const bool wanted[EVENT_COUNT], const char *device,
				 const void *function, char *why, size_t why_bytes)
{
	struct counters *c = malloc(sizeof(*c));

	*why = '\0';
	if (!c)
		return NULL;
	for (int id = 0; id < EVENT_COUNT; id++) {
		c->fd[id] = wanted[id] ? open_event(id, device, function) : -1;
		if (!wanted[id] || c->fd[id] >= 0 || *why)
			continue;
		snprintf(why, why_bytes, "cannot count %s (%s): %s%s", table[id].name,
			 *table[id].tracepoint ? table[id].tracepoint : table[id].filter,
			 strerror(-c->fd[id]), geteuid() ? "; run it with sudo" : "");
	}
	return c;
}

void counters_start(struct counters *c)
{
	if (c)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

void counters_stop(struct counters *c)
{
	if (c)
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

void counters_take(struct counters *c, double counted[EVENT_COUNT])
{
	for (int id = 0; id < EVENT_COUNT; id++) {
		uint64_t count;

		counted[id] = NAN;
		if (c && c->fd[id] >= 0 && read(c->fd[id], &count, sizeof(count)) == sizeof(count))
			counted[id] = count;
	}
}

void counters_free(struct counters *c)
{
	for (int id = 0; c && id < EVENT_COUNT; id++)
		if (c->fd[id] >= 0)
			close(c->fd[id]);
	free(c);
}
