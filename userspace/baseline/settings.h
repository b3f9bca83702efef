/* SPDX-License-Identifier: GPL-2.0 */
/* What the user asked for. */
#ifndef COPYSCOPE_BASELINE_SETTINGS_H
#define COPYSCOPE_BASELINE_SETTINGS_H

#include <stdbool.h>

#include "userspace/baseline/fault_inject.h"

enum { ONLY_MAX = 64 };

struct settings {
	const char *only[ONLY_MAX];	/* rows or families; none: all */
	int only_count;
	bool quick;
	bool drop_caches;
	bool list;
	bool quiet;
	int runs, rounds;
	double rtt_ms;			/* of the remote path */
	const char *dir;		/* where files are made, nameless */
	const char *json;
	enum injected fault;	/* on purpose; INJECT_NONE unless a test asks for one */
};

/* Exits with 2 and one line if the command line is not sound. */
void settings_parse(int argc, char **argv, struct settings *s);

/* Exits with 2 if a name fits no row and no family. */
void settings_check_names(const struct settings *s);

#endif
