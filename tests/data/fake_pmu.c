// SPDX-License-Identifier: GPL-2.0
// A PMU with P and E cores, for programs that are started with it (LD_PRELOAD): it counts what its table
// says, a quarter of it on E cores. Instructions had a counter for half the time, and the LLC is refused.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CORE_TYPE 4
#define ATOM_TYPE 10
#define TIME_NS 1000000

static const struct {
	uint32_t type;
	uint64_t config, count;
	int error, runs_1_of;
} table[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 40000000, 0, 1 },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 20000000, 0, 2 },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 4000, 0, 1 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16, 400000, 0, 1 },
	{ PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16, 0, EACCES, 1 },
};

/* A descriptor that reads as an event, or -1 and errno. */
static long event_open(const struct perf_event_attr *attr)
{
	uint32_t pmu = attr->config >> 32;
	int ends[2];

	for (unsigned int i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint64_t share = pmu == ATOM_TYPE ? 1 : 3;
		uint64_t running = share * TIME_NS / 4 / table[i].runs_1_of;
		uint64_t raw[3] = { share * table[i].count / 4, TIME_NS, running };

		if (attr->type != table[i].type || (uint32_t)attr->config != table[i].config)
			continue;
		errno = table[i].error;
		if (errno || pipe2(ends, 02000000))
			return -1;
		if (write(ends[1], raw, sizeof(raw)) != sizeof(raw))
			return -1;
		close(ends[1]);
		return ends[0];
	}
	errno = ENOENT;
	return -1;
}

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long arg[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		const struct perf_event_attr *attr = (const struct perf_event_attr *)arg[0];

		if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
			return event_open(attr);
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* A pipe starts at once. */
int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	va_list list;
	void *arg;
	int err;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	err = real(fd, request, arg);
	return err && errno == ENOTTY && request == PERF_EVENT_IOC_ENABLE ? 0 : err;
}
