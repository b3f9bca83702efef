// SPDX-License-Identifier: GPL-2.0
/* Reads the machine description from sysfs and procfs. */
#include "studies/baseline/machine/machine_info.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "studies/baseline/machine/cgroup_limits.h"
#include "studies/baseline/timing/clock.h"

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
