// SPDX-License-Identifier: GPL-2.0
/* By which names a process is called, and which names are like one that none has. */
#include "userspace/watch/options/called.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "userspace/common/option_values.h"
#include "userspace/common/printable.h"
#include "userspace/record/watch_record.h"

enum { WORD_BYTES = 4096, NEAR_MOST = 5, SLIPS_MOST = 2, LONG_ENOUGH = 3 };

/* The bytes of a file of the process up to @end or a 0; false if there are none. */
static bool first_of(const char *pid, const char *file, char end, char text[WORD_BYTES])
{
	char path[64];
	size_t bytes;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%.20s/%s", pid, file);
	in = fopen(path, "re");
	bytes = in ? fread(text, 1, WORD_BYTES - 1, in) : 0;
	if (in)
		fclose(in);
	text[bytes] = '\0';
	/* A comm may hold any byte, and a newline ends it. */
	if (bytes && text[bytes - 1] == end)
		text[bytes - 1] = '\0';
	return *text;
}

static bool comm_of(const char *pid, char name[WORD_BYTES])
{
	return first_of(pid, "comm", '\n', name);
}

/* Kernel threads have no words, nor has what has ended. */
static bool program_of(const char *pid, char name[WORD_BYTES])
{
	const char *slash;

	if (!first_of(pid, "cmdline", '\0', name))
		return false;
	slash = strrchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash));
	return *name;
}

/* What the last * takes grows by one letter where the rest does not fit. */
bool name_fits(const char *glob, const char *name)
{
	const char *star = NULL, *after = NULL;

	while (*name) {
		if (*glob == '*') {
			star = ++glob;
			after = name;
		} else if (*glob == '?' || *glob == *name) {
			glob++;
			name++;
		} else if (star) {
			glob = star;
			name = ++after;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

bool process_is_called(const char *pid, const struct subject_names *names, bool *has)
{
	char comm[WORD_BYTES], program[WORD_BYTES];
	bool has_comm = names->comm_count && comm_of(pid, comm), has_program = names->comm_count && program_of(pid, program);
	bool any = false;

	for (unsigned int i = 0; i < names->comm_count; i++) {
		bool fits = (has_comm && name_fits(names->comms[i], comm)) ||
			    (has_program && name_fits(names->comms[i], program));

		any |= fits;
		if (has)
			has[i] = fits;
	}
	return any;
}

/* One begins with the other's first letters or has it inside, or few letters differ. */
static bool is_near(const char *name, const char *found)
{
	int len = strlen(name), begin = len < LONG_ENOUGH ? len : LONG_ENOUGH;

	return !strncmp(name, found, begin) || strcasestr(found, name) ||
	       (strlen(found) >= LONG_ENOUGH && strcasestr(name, found)) ||
	       options_slips(name, len, found) <= SLIPS_MOST;
}

struct near {
	const char *name;
	char found[NEAR_MOST][WATCH_COMM_BYTES];
	int count;
};

/* What --comm takes has no more bytes. */
static void near_add(struct near *near, const char *found)
{
	if (near->count == NEAR_MOST || strlen(found) >= WATCH_COMM_BYTES || !is_near(near->name, found))
		return;
	for (int i = 0; i < near->count; i++)
		if (!strcmp(near->found[i], found))
			return;
	strcpy(near->found[near->count++], found);
}

void processes_called_nearly(const char *name, char *text, int room)
{
	struct near near = { .name = name };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int used = 0;

	*text = '\0';
	while (proc && (entry = readdir(proc))) {
		char found[WORD_BYTES];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (comm_of(entry->d_name, found))
			near_add(&near, found);
		if (program_of(entry->d_name, found))
			near_add(&near, found);
	}
	if (proc)
		closedir(proc);
	for (int i = 0; i < near.count && used < room; i++)
		used += snprintf(text + used, room - used, "%s%s", i ? ", " : ": near are ", printable(near.found[i]));
}
