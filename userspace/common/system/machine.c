// SPDX-License-Identifier: GPL-2.0
/* Reads the machine's description. */
#include "userspace/common/system/machine.h"

#include <errno.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Arm's processors have numbers for a name, on two lines. */
static void note_arm_model(struct machine *m, const char *line, const char *value)
{
	if (!strncmp(line, "CPU implementer", 15))
		snprintf(m->cpu_model, sizeof(m->cpu_model), "Arm, implementer%.20s", value + 1);
	if (!strncmp(line, "CPU part", 8))
		snprintf(m->cpu_model + strlen(m->cpu_model),
			 sizeof(m->cpu_model) - strlen(m->cpu_model), ", part%.20s", value + 1);
}

static void read_cpuinfo(struct machine *m, bool *hypervisor)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[4096];

	*hypervisor = false;
	snprintf(m->cpu_model, sizeof(m->cpu_model), "unknown");
	while (file && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		if (!strncmp(line, "model name", 10))
			snprintf(m->cpu_model, sizeof(m->cpu_model), "%s", value + 2);
		note_arm_model(m, line, value);
		if (!strncmp(line, "flags", 5) && strstr(value, " hypervisor"))
			*hypervisor = true;
		if (*line == '\n')
			break;
	}
	if (file)
		fclose(file);
}

static void read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	*text = '\0';
	if (!file)
		return;
	if (fgets(text, size, file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

/* /sys/kernel/security/lockdown reads "none [integrity] confidentiality". */
static void read_lockdown(struct machine *m)
{
	char line[NAME_BYTES * 2], *from, *to;

	read_line("/sys/kernel/security/lockdown", line, sizeof(line));
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	snprintf(m->lockdown, sizeof(m->lockdown), "not available");
	if (to) {
		*to = '\0';
		snprintf(m->lockdown, sizeof(m->lockdown), "%.60s", from + 1);
	}
}

void machine_read(struct machine *m)
{
	struct utsname uts;
	/* tools/guest sets it: nothing inside an Arm guest shows it. */
	const char *emulation = getenv("COPYSCOPE_EMULATION");
	char vendor[NAME_BYTES];
	bool hypervisor;

	uname(&uts);
	snprintf(m->kernel, sizeof(m->kernel), "%.63s", uts.release);
	snprintf(m->arch, sizeof(m->arch), "%.63s", uts.machine);
	read_cpuinfo(m, &hypervisor);
	read_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	/* QEMU without KVM gives its processor this name; there is no better sign. */
	m->emulated = emulation || strstr(m->cpu_model, "TCG") != NULL;
	m->instruction_clock = emulation && !strcmp(emulation, "icount");
	snprintf(m->virt, sizeof(m->virt), "%.63s",
		 m->instruction_clock ? "emulated (QEMU TCG, icount)" : m->emulated ? "emulated (QEMU TCG)" : !hypervisor ? "none" :
		 *vendor ? vendor : "a hypervisor");
	read_lockdown(m);
	m->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	m->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

/* What is mounted above it may hide it. */
static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

bool cgroup_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, "cgroup2") && is_cgroup2(m->mnt_dir);
		if (found)
			snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}
