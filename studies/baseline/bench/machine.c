// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the machine description from sysfs and procfs, the limits of control groups by v1 or v2,
 * and the load.
 */
#include "studies/baseline/bench/machine.h"

#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "studies/baseline/bench/clock.h"

#define HOME "/sys/fs/cgroup"

enum { PATH_BYTES = 700, LINE_BYTES = 512 };

struct group {
	char path[PATH_BYTES];
	size_t home;		/* length of the part that is no group any more */
	bool v1;
};

/* "4:cpu,cpuacct:/a/b" is v1's, "0::/a/b" is v2's; v1 comes first where both are mounted. */
static bool find_group(const char *controller, struct group *g)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[LINE_BYTES], names[LINE_BYTES], where[LINE_BYTES];
	bool found = false;

	while (file && fgets(line, sizeof(line), file) && !found) {
		if (sscanf(line, "%*d:%[^:]:%s", names, where) == 2) {
			char *name = strtok(names, ",");

			while (name && strcmp(name, controller))
				name = strtok(NULL, ",");
			g->v1 = found = name;
		} else {
			found = sscanf(line, "0::%s", where) == 1;
		}
	}
	if (file)
		fclose(file);
	if (!found)
		return false;
	g->home = snprintf(g->path, sizeof(g->path), HOME "%s%s", g->v1 ? "/" : "",
			   g->v1 ? controller : "");
	snprintf(g->path + g->home, sizeof(g->path) - g->home, "%s", where);
	return true;
}

/* To the group above; false at the top. */
static bool go_up(struct group *g)
{
	char *slash = strrchr(g->path + g->home, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* How many numbers the file begins with; "max" is none. */
static int read_numbers(const struct group *g, const char *name, double numbers[2])
{
	char path[PATH_BYTES + 64];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "%s/%s", g->path, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	got = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
	fclose(file);
	return got;
}

static double cpus_here(const struct group *g)
{
	double v[2] = { -1, 100000 }, period[2];

	read_numbers(g, g->v1 ? "cpu.cfs_quota_us" : "cpu.max", v);
	if (g->v1 && read_numbers(g, "cpu.cfs_period_us", period))
		v[1] = period[0];
	return v[0] > 0 ? v[0] / v[1] : INFINITY;
}

static double memory_here(const struct group *g)
{
	double v[2] = { INFINITY };

	read_numbers(g, g->v1 ? "memory.limit_in_bytes" : "memory.max", v);
	return v[0];
}

static double lowest(const char *controller, double (*here)(const struct group *))
{
	double found = INFINITY;
	struct group g;

	if (!find_group(controller, &g))
		return found;
	do
		found = fmin(found, here(&g));
	while (go_up(&g));
	return found;
}

/* CPUs at once, by the control groups of this process; INFINITY: no limit. */
static double cgroup_cpus(void)
{
	return lowest("cpu", cpus_here);
}

/* Bytes of memory; UINT64_MAX: no limit. */
static uint64_t cgroup_memory_bytes(void)
{
	double bytes = lowest("memory", memory_here);

	return bytes < (double)INT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}

static int read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	int got = file && fgets(text, size, file);

	if (file)
		fclose(file);
	if (!got)
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	return got ? 0 : -1;
}

static long read_number(const char *path, long otherwise)
{
	char text[64];

	return read_text(path, text, sizeof(text)) ? otherwise : atol(text);
}

static void read_caches(struct machine_info *m)
{
	for (int i = 0; i < 8; i++) {
		char path[128], type[32], size[32];
		uint64_t bytes;
		long level;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
		level = read_number(path, 0);
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
		read_text(path, type, sizeof(type));
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
		read_text(path, size, sizeof(size));
		bytes = strtoull(size, NULL, 10) << (strchr(size, 'M') ? 20 : 10);
		if (level == 1 && !strcmp(type, "Instruction"))
			m->l1i_bytes = bytes;
		else if (level == 1)
			m->l1d_bytes = bytes;
		else if (level == 2)
			m->l2_bytes = bytes;
		else if (level == 3)
			m->l3_bytes = bytes;
	}
}

/* SMBIOS 3.0 section 7.18: total width at 08h, data width at 0Ah, speed at 15h in MT/s. */
static void read_memory_module(struct machine_info *m)
{
	unsigned char raw[64] = {};
	FILE *file = fopen("/sys/firmware/dmi/entries/17-0/raw", "re");
	size_t got = file ? fread(raw, 1, sizeof(raw), file) : 0;
	int width = raw[0x0a] | raw[0x0b] << 8, speed = raw[0x15] | raw[0x16] << 8;

	if (file)
		fclose(file);
	if (got < 0x17 || !width || !speed || width == 0xffff)
		return;
	snprintf(m->memory, sizeof(m->memory), "%d MT/s, %d bits wide", speed, width);
	m->memory_peak_gbps = speed / 1000.0 * width / 8;
}

static void read_memory(struct machine_info *m)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib;
	uint64_t limit = cgroup_memory_bytes();
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			m->available_bytes = kib << 10;
	if (file)
		fclose(file);
	if (limit < m->available_bytes)
		m->available_bytes = limit;
	read_memory_module(m);
}

static const char *fs_name(long type)
{
	static const struct {
		long type;
		const char *name;
	} known[] = {
		{ 0xef53, "ext2, ext3 or ext4" }, { 0x58465342, "xfs" }, { 0x9123683e, "btrfs" },
		{ 0x01021994, "tmpfs" }, { 0x858458f6, "ramfs" }, { 0x794c7630, "overlay" },
		{ 0x6969, "nfs" }, { 0x65735546, "fuse" }, { 0x01021997, "9p" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == type)
			return known[i].name;
	return "of a kind not known here";
}

/* The name of the bus that /sys/... of a device hangs on. */
static void read_bus(const char *device, char *bus, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/device/subsystem", device);
	if (realpath(path, target))
		snprintf(bus, size, "%.40s", basename(target));
	else
		snprintf(bus, size, "none");
}

static void read_disk(struct machine_info *m)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct statfs fs;
	struct stat st;

	m->disk_rotational = m->disk_read_ahead_kib = -1;
	snprintf(m->disk, sizeof(m->disk), "none");
	if (statfs(m->dir, &fs) || stat(m->dir, &st))
		return;
	snprintf(m->dir_fs, sizeof(m->dir_fs), "%s", fs_name(fs.f_type));
	m->disk_free_bytes = (uint64_t)fs.f_bavail * fs.f_bsize;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	if (!realpath(path, target))
		return;
	snprintf(m->disk, sizeof(m->disk), "%.40s", basename(target));
	/* A partition has its queue at the disk above it. */
	snprintf(path, sizeof(path), "%.3000s/queue", target);
	if (access(path, F_OK))
		dirname(target);
	snprintf(path, sizeof(path), "%.3000s/queue/read_ahead_kb", target);
	m->disk_read_ahead_kib = read_number(path, -1);
	snprintf(path, sizeof(path), "%.3000s/queue/rotational", target);
	m->disk_rotational = read_number(path, -1);
	snprintf(path, sizeof(path), "%.3000s/device/model", target);
	read_text(path, m->disk_model, sizeof(m->disk_model));
	read_bus(target, m->disk_bus, sizeof(m->disk_bus));
}

static void read_nic(struct machine_info *m)
{
	FILE *file = fopen("/proc/net/route", "re");
	char line[256], path[128], device[32];
	unsigned long to;

	m->nic_mbit = -1;
	snprintf(m->nic, sizeof(m->nic), "none");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%31s %lx", device, &to) == 2 && !to)
			snprintf(m->nic, sizeof(m->nic), "%s", device);
	if (file)
		fclose(file);
	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", m->nic);
	m->nic_mbit = read_number(path, -1);
	snprintf(path, sizeof(path), "/sys/class/net/%s", m->nic);
	read_bus(path, m->nic_bus, sizeof(m->nic_bus));
}

void machine_info_read(struct machine_info *m, const char *dir)
{
	memset(m, 0, sizeof(*m));
	machine_read(&m->common);
	m->clock_ghz = clock_ticks_per_ns();
	m->told_ghz = read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", 0) / 1e6;
#if defined(__x86_64__)
	m->tsc_ghz = m->clock_ghz;
	if (!m->told_ghz)
		m->told_ghz = m->tsc_ghz;
#else
	if (!m->told_ghz)
		m->told_ghz = 2;	/* the counter of arm64 ticks far slower than its core */
#endif
	snprintf(m->dir, sizeof(m->dir), "%s", dir);
	read_caches(m);
	read_memory(m);
	read_disk(m);
	read_nic(m);
}

void warnings_add(struct warnings *w, const char *format, ...)
{
	char sentence[WARNING_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	for (int i = 0; i < w->count; i++)
		if (!strcmp(w->sentence[i], sentence))
			return;
	if (w->count < WARNINGS_MAX)
		strcpy(w->sentence[w->count++], sentence);
}

enum { SHORT_OF_MEMORY = 512 << 20 };

/* Tasks that run or wait for a CPU at this moment, without this one. */
static int neighbours(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	int running = 1;

	if (file && fscanf(file, "%*f %*f %*f %d/", &running) != 1)
		running = 1;
	if (file)
		fclose(file);
	return running - 1;
}

/* The largest of ten counts: a neighbour that sleeps during one may run during another. */
static int busiest_neighbours(void)
{
	int most = 0;

	for (int i = 0; i < 10; i++) {
		int now = neighbours();

		most = now > most ? now : most;
		usleep(5000);
	}
	return most;
}

double interference_stolen(void)
{
	static unsigned long long last_all, last_stolen;
	unsigned long long v[8] = {}, all = 0, stolen;
	FILE *file = fopen("/proc/stat", "re");
	double share;
	int got = 0;

	if (file) {
		got = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1],
			     &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
		fclose(file);
	}
	for (int i = 0; i < 8; i++)
		all += v[i];
	stolen = v[7];
	share = got == 8 && all > last_all ? (double)(stolen - last_stolen) / (all - last_all) : NAN;
	last_all = all;
	last_stolen = stolen;
	return share;
}

void interference_look(const struct machine_info *m, struct warnings *warnings)
{
	int busy = busiest_neighbours(), allowed = sysconf(_SC_NPROCESSORS_ONLN);
	double quota = cgroup_cpus();
	cpu_set_t set;

	if (busy)
		warnings_add(warnings, "%d other task%s ran before the first measurement: times are of a "
			   "machine that is shared", busy, busy > 1 ? "s" : "");
	if (quota < allowed)
		warnings_add(warnings, "this control group may use %.2f CPUs: longer runs are throttled, "
			   "raise cpu.max or cpu.cfs_quota_us", quota);
	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) < allowed)
		warnings_add(warnings, "this process may use %d of %d CPUs", CPU_COUNT(&set), allowed);
	if (m->available_bytes < SHORT_OF_MEMORY)
		warnings_add(warnings, "only %llu MiB of memory are available: large working sets and files "
			   "shrink or are left out", (unsigned long long)m->available_bytes >> 20);
	if (m->common.emulated)
		warnings_add(warnings, "this machine is emulated: counts are exact, times mean nothing");
	interference_stolen();
}
