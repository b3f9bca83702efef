// SPDX-License-Identifier: GPL-2.0
/* Chooses by its first word what the one static file is: a watch, a run, an end of its workload, the baseline. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "userspace/collector/guard.h"
#include "userspace/common/system/record_file.h"

/* main() of the programs of these names, which is compiled once more for this file. */
int watch_main(int argc, char **argv);
int trace_run_main(int argc, char **argv);
int workload_main(int argc, char **argv);
int baseline_main(int argc, char **argv);

/* As help and records call it. */
static int run(int argc, char **argv)
{
	static char name[] = "trace_run";

	argv[0] = name;
	return trace_run_main(argc, argv);
}

static const struct {
	const char *word;
	int (*main)(int argc, char **argv);
	int before;	/* words that the program is not to see */
} programs[] = {
	{ "run", run, 1 },
	{ "server", workload_main, 0 },
	{ "client", workload_main, 0 },
	{ "baseline", baseline_main, 1 },
};

int main(int argc, char **argv)
{
	/* As what is asked for from another host has it: `--reader 1,0` before all (far.py). */
	int far = argc > 3 && !strcmp(argv[1], "--reader") ? 2 : 0;

	tree_is_none = true;
	for (unsigned int i = 0; argc > 1 && i < sizeof(programs) / sizeof(*programs); i++) {
		if (strcmp(argv[1 + far], programs[i].word))
			continue;
		argc -= far + programs[i].before;
		argv += far + programs[i].before;
		return far ? guard_until_eof(programs[i].main, argc, argv) : programs[i].main(argc, argv);
	}
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		puts("copyscope-collect run makes a run, copyscope-collect baseline measures this machine; both have\n"
		     "--help. Any other word is of a watch:\n");
	return watch_main(argc, argv);
}
