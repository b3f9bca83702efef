// SPDX-License-Identifier: GPL-2.0
/* Processors that threads are to run on, as a user lists them. */
#include "userspace/common/system/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/common/numbers.h"

/* Which cores a kind of core is, where a processor has two. */
#define P_CORES "/sys/bus/event_source/devices/cpu_core/cpus"
#define E_CORES "/sys/bus/event_source/devices/cpu_atom/cpus"

static int add(struct cpu_list *list, const cpu_set_t *allowed, uint64_t first, uint64_t last)
{
	for (uint64_t cpu = first; cpu <= last; cpu++) {
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, allowed))
			return -ENODEV;
		if (list->count == CPU_LIST_MOST)
			return -EINVAL;
		list->cpu[list->count++] = cpu;
	}
	return 0;
}

/* "2" or "2-5" */
static int add_range(struct cpu_list *list, const cpu_set_t *allowed, char *text)
{
	char *end = strchr(text, '-');
	uint64_t first, last;

	if (end)
		*end++ = '\0';
	if (whole_parse(text, NUMBER_PLAIN, 0, INT32_MAX, &first) ||
	    whole_parse(end ? end : text, NUMBER_PLAIN, 0, INT32_MAX, &last) || last < first)
		return -EINVAL;
	return add(list, allowed, first, last);
}

static int add_ranges(struct cpu_list *list, const cpu_set_t *allowed, char *text)
{
	int err = 0;

	for (char *part; !err && (part = strsep(&text, ","));)
		err = add_range(list, allowed, part);
	return err;
}

static int add_kind(struct cpu_list *list, const cpu_set_t *allowed, const char *path)
{
	char text[CPU_LIST_BYTES] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return -ENODEV;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return add_ranges(list, allowed, text) ? -ENODEV : 0;
}

int cpu_list_parse(const char *text, struct cpu_list *list)
{
	char copy[CPU_LIST_BYTES], *rest = copy;
	cpu_set_t allowed;
	int err = 0;

	*list = (struct cpu_list){};
	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	strcpy(copy, text);
	for (char *part; !err && (part = strsep(&rest, ","));)
		err = !strcmp(part, "P") ? add_kind(list, &allowed, P_CORES) :
		      !strcmp(part, "E") ? add_kind(list, &allowed, E_CORES) : add_range(list, &allowed, part);
	return err;
}

const char *cpu_list_fault(int err)
{
	return err == -ENODEV ? "this process may not run on one of them, or no core is of that kind" :
				"give processors like 0,2-3, or P or E for cores of that kind";
}

int cpu_list_hold(const struct cpu_list *list, unsigned int number)
{
	cpu_set_t set;

	if (!list->count)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(list->cpu[number % list->count], &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}
