// SPDX-License-Identifier: GPL-2.0
/* Opens, starts and reads perf events of this process and its children. */
#include "studies/baseline/bench/events.h"

#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/common/perf_open.h"

static const struct event table[] = {
#define X(id, name, tracepoint, filter) { name, tracepoint, filter },
	EVENTS(X)
#undef X
};

const struct event *event_of(enum event_id id)
{
	return &table[id];
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

void event_filter(enum event_id id, const char *device, int cpu, char *filter, size_t size)
{
	size_t used = 0;

	*filter = '\0';
	for (const char *from = table[id].filter; *from && used < size; from++) {
		if (*from == '@') {
			used += snprintf(filter + used, size - used, "%s", device);
		} else if (*from == '#') {
			used += snprintf(filter + used, size - used, "%d", cpu);
		} else if (*from == '%') {
			size_t len = strspn(from + 1, "abcdefghijklmnopqrstuvwxyz0123456789");

			used += snprintf(filter + used, size - used, "%d",
					 syscall_number(from + 1, len));
			from += len;
		} else {
			used += snprintf(filter + used, size - used, "%c", *from);
		}
	}
}

struct search {
	uintptr_t address;
	int64_t offset;
};

static int look(struct dl_phdr_info *program, size_t size, void *data)
{
	struct search *s = data;
	uintptr_t at = s->address - program->dlpi_addr;

	for (int i = 0; i < program->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &program->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && at >= segment->p_vaddr &&
		    at < segment->p_vaddr + segment->p_filesz)
			s->offset = at - segment->p_vaddr + segment->p_offset;
	}
	return true;	/* no library is looked at */
}

/* Reads whole pages, and so the gaps that a sanitizer poisons between variables. */
__attribute__((no_sanitize("address")))
static int touch(struct dl_phdr_info *module, size_t size, void *data)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
		uintptr_t from = module->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R))
			continue;
		for (uintptr_t at = from & -page; at < from + segment->p_filesz; at += page)
			*(const volatile char *)at;
	}
	return 0;	/* on to the next module */
}

void code_touch(void)
{
	dl_iterate_phdr(touch, NULL);
}

/* Where a function lies in this program's file, for a probe; -1 if in no segment of the program itself. */
static int64_t code_file_offset(const void *function)
{
	struct search s = { .address = (uintptr_t)function, .offset = -1 };

	dl_iterate_phdr(look, &s);
	return s.offset;
}

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

int task_clock_open(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
		.inherit = 1,
	};
	int fd = perf_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

uint64_t task_clock_ns(int fd)
{
	uint64_t ns = 0;

	return read(fd, &ns, sizeof(ns)) == sizeof(ns) ? ns : 0;
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
