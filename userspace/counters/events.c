// SPDX-License-Identifier: GPL-2.0
// Names the counted events, finds the PMUs of the cores, and explains refusals.
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/counters/events.h"

#define READ_MISS(cache) \
	((cache) | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16))

static const struct event_spec specs[COUNTER_COUNT] = {
	[COUNTER_CYCLES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	[COUNTER_INSTRUCTIONS] = { PERF_TYPE_HARDWARE,
				   PERF_COUNT_HW_INSTRUCTIONS },
	[COUNTER_L1D_LOAD_MISSES] = { PERF_TYPE_HW_CACHE,
				      READ_MISS(PERF_COUNT_HW_CACHE_L1D) },
	[COUNTER_LLC_LOAD_MISSES] = { PERF_TYPE_HW_CACHE,
				      READ_MISS(PERF_COUNT_HW_CACHE_LL) },
	[COUNTER_CACHE_MISSES] = { PERF_TYPE_HARDWARE,
				   PERF_COUNT_HW_CACHE_MISSES },
	[COUNTER_CONTEXT_SWITCHES] = { PERF_TYPE_SOFTWARE,
				       PERF_COUNT_SW_CONTEXT_SWITCHES },
	[COUNTER_PAGE_FAULTS] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	[COUNTER_TASK_CLOCK] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
};

const struct event_spec *event_spec(enum counter_event event)
{
	return &specs[event];
}

bool event_is_hardware(enum counter_event event)
{
	return specs[event].type != PERF_TYPE_SOFTWARE;
}

/*
 * Only the PMU of a kind of core has a `cpus` file; uncore PMUs have `cpumask`. Asking for the
 * file, not for cpu_core and cpu_atom by name, also covers cpu_lowpower and Arm's clusters.
 */
static bool core_pmu_read(const char *devices, const char *name, struct core_pmu *pmu)
{
	char path[4096];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s/cpus", devices, name);
	if (strlen(name) >= sizeof(pmu->name) || access(path, R_OK))
		return false;
	snprintf(path, sizeof(path), "%s/%s/type", devices, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	ok = fscanf(file, "%u", &pmu->type) == 1;
	fclose(file);
	strcpy(pmu->name, name);
	return ok;
}

unsigned int core_pmus_find(const char *sysfs_root, struct core_pmu pmus[COUNTER_PARTS_MAX])
{
	struct dirent **entries;
	unsigned int found = 0;
	struct core_pmu pmu;
	char devices[2048];
	int i, count;

	snprintf(devices, sizeof(devices), "%s/bus/event_source/devices", sysfs_root);
	count = scandir(devices, &entries, NULL, alphasort);
	if (count < 0)
		return 0;
	for (i = 0; i < count; i++) {
		if (core_pmu_read(devices, entries[i]->d_name, &pmu)) {
			if (found < COUNTER_PARTS_MAX)
				pmus[found] = pmu;
			found++;
		}
		free(entries[i]);
	}
	free(entries);
	return found;
}

static void refusal_by_permission(char why[COUNTER_WHY_BYTES])
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	char level[16] = "unreadable";

	if (file) {
		if (fscanf(file, "%15s", level) != 1)
			strcpy(level, "unreadable");
		fclose(file);
	}
	snprintf(why, COUNTER_WHY_BYTES,
		 "counting the kernel's part is forbidden (perf_event_paranoid is %s): "
		 "run as root, grant CAP_PERFMON (a container must allow it too), or set it to 1",
		 level);
}

void event_refusal(char why[COUNTER_WHY_BYTES], int error)
{
	const char *text;

	switch (error) {
	case EACCES:
	case EPERM:
		refusal_by_permission(why);
		return;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
	case ENXIO:
		text = "this machine has no such hardware counter (no PMU, or one without it)";
		break;
	case EINVAL:	/* the errno on x86 for a cache event that its processor lacks */
		text = "this processor cannot count it (EINVAL)";
		break;
	case EMFILE:
	case ENFILE:
		text = "too many open files: raise the limit (ulimit -n)";
		break;
	case EBUSY:
		text = "another program holds the hardware counters for itself alone";
		break;
	case ENOSYS:
		text = "this kernel has no perf events (CONFIG_PERF_EVENTS)";
		break;
	default:
		text = NULL;
	}
	if (text)
		snprintf(why, COUNTER_WHY_BYTES, "%s", text);
	else
		snprintf(why, COUNTER_WHY_BYTES, "perf_event_open failed: %s", strerror(error));
}
