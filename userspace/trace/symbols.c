// SPDX-License-Identifier: GPL-2.0
/* Names kernel addresses from /proc/kallsyms in one pass, keeping only what was asked for. */
#include "userspace/trace/symbols.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES_MAX = 32, SYMBOL_BYTES = 64 };

struct nearest {
	uint64_t start;
	char name[SYMBOL_BYTES];
};

static bool is_bpf(const char *name)
{
	return !strncmp(name, "bpf_prog_", 9) || !strncmp(name, "bpf_trampoline_", 15);
}

static void name_frames(const uint64_t *frames, int count, struct nearest *nearest)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], type, name[SYMBOL_BYTES];
	uint64_t start;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %c %63s", &start, &type, name) != 3 || !start)
			continue;
		for (int i = 0; i < count; i++) {
			if (start > frames[i] || start < nearest[i].start)
				continue;
			nearest[i].start = start;
			memcpy(nearest[i].name, name, sizeof(name));
		}
	}
	fclose(file);
}

void symbols_join(const uint64_t *frames, int count, char *text, size_t size)
{
	struct nearest nearest[FRAMES_MAX] = {};
	size_t used = 0;

	*text = '\0';
	for (int i = 0; i < count; i++)
		if (!frames[i] || i == FRAMES_MAX)
			count = i;
	name_frames(frames, count, nearest);
	for (int i = 0; i < count && used < size; i++) {
		if (!*nearest[i].name || is_bpf(nearest[i].name))
			continue;
		used += snprintf(text + used, size - used, "%s%s", used ? " < " : "",
				 nearest[i].name);
	}
}
