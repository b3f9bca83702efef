/* SPDX-License-Identifier: GPL-2.0 */
/* What the user asked for. */
#ifndef COPYSCOPE_BASELINE_SETTINGS_H
#define COPYSCOPE_BASELINE_SETTINGS_H

#include "studies/baseline/bench/bench.h"

enum { ONLY_MAX = 64 };

struct settings {
	const char *only[ONLY_MAX];	/* rows or families; none: all */
	int only_count;
	bool list;
	bool quiet;
	const char *json;
	struct protocol protocol;
};

/* Exits with 2 and one line if the command line is not sound. */
void baseline_settings_parse(int argc, char **argv, struct settings *s);

/* True if the user asked for this row, by its name or its family's, or for everything. */
bool settings_want(const struct settings *s, const char *family, const char *row);

/* Exits with 2 and one line that has @what where @format says %s. */
void settings_refuse(const char *format, const char *what) __attribute__((noreturn));

#endif
