// SPDX-License-Identifier: GPL-2.0
/* Chooses by its first word what the one static file is: a watch, a run, or an end of the workload that a run starts. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "userspace/collector/guard.h"

/* main() of the programs of these names, which is compiled once more for this file. */
int watch_main(int argc, char **argv);
int trace_run_main(int argc, char **argv);
int workload_main(int argc, char **argv);

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
};

int main(int argc, char **argv)
{
	/* As the watch of another host has it: `--reader 1,0` before all (far.py). */
	bool far = argc > 3 && !strcmp(argv[1], "--reader") && !strcmp(argv[3], "run");

	if (far)
		return guard_until_eof(run, argc - 3, argv + 3);
	for (unsigned int i = 0; argc > 1 && i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(argv[1], programs[i].word))
			return programs[i].main(argc - programs[i].before, argv + programs[i].before);
	return watch_main(argc, argv);
}
